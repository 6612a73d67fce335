"""How a bad configuration is told: the file, the place in it, what was found, what is allowed."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One finding about a user's file. `place` is a path inside it such as `hooks[2].timeout_ms`, "" for the whole file."""

    file: str
    place: str
    message: str
    remedy: str = ""
    level: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        where = f"{self.file}: {self.place}" if self.place else self.file
        return f"{where}: {self.message}" + (f" ({self.remedy})" if self.remedy else "")


class ConfigInvalid(Exception):
    """A configuration does not load; nothing was started."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
