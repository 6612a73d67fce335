"""Where a Lua machine tells what its users should know: warnings about their code, and hooks that failed."""

from typing import Literal, Protocol

Level = Literal["debug", "info", "warn", "error"]


class Log(Protocol):
    """Takes one line. `owner` is the plugin's name, `init.lua` or `workspace init.lua`; `file` and `line` say where in their code."""

    def __call__(self, level: Level, owner: str, text: str, file: str, line: int | None) -> None:
        """Write it down."""
