"""One thing that was looked at."""

from typing import Literal

from msgspec import Struct

from treblehook.host.problems import Problem

Level = Literal["ok", "warning", "error"]


class Finding(Struct, frozen=True, tag="finding"):
    """`what` was looked at, such as `node` or `extension example.lookout`, and how it is; `remedy` is what to do, or empty."""

    what: str
    level: Level
    message: str
    remedy: str = ""


def found(what: str, problem: Problem) -> Finding:
    """A problem as a finding."""
    where = f"{problem.file}: {problem.place}" if problem.place else problem.file
    return Finding(what, problem.level, f"{where}: {problem.message}", problem.remedy)
