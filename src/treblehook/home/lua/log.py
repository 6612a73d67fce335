"""`<home>/runtime/logs/lua.jsonl`: what Lua code says, and what is wrong with it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from treblehook.contracts.crucible.log import Level, Log
from treblehook.host.private import make_private_folder
from treblehook.host.problems import Problem


class LuaLog:
    """Appends a line for each thing that is said; warnings and errors become problems of the home too, each once.

    The folder gets mode 0700 and the file 0600. Where a line cannot be written, that is a problem, and the code goes on.
    """

    def __init__(self, home: Path, report: Callable[[Problem], None], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = home / "runtime" / "logs" / "lua.jsonl"
        self._report = report
        self._now = now
        self._told: set[Problem] = set()

    def __call__(self, level: Level, owner: str, text: str, file: str, line: int | None) -> None:
        """Write one line."""
        moment = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._append(
            msgspec.json.encode(
                {
                    "timestamp": moment,
                    "level": level,
                    "owner": readable(owner),
                    "text": readable(text),
                    "file": readable(file),
                    "line": line,
                }
            )
        )
        if (problem := _problem(level, owner, text, file, line)) is not None:
            self._tell(problem)

    def _append(self, line: bytes) -> None:
        try:
            make_private_folder(self.path.parent.parent)
            make_private_folder(self.path.parent)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(descriptor, "ab", buffering=0) as file:
                file.write(line + b"\n")
        except OSError as error:
            self._tell(Problem(str(self.path), "", f"what Lua code says cannot be written: {error.strerror}", level="warning"))

    def _tell(self, problem: Problem) -> None:
        if problem not in self._told:
            self._told.add(problem)
            self._report(problem)


def problems_only(report: Callable[[Problem], None]) -> Log:
    """A log that writes nothing down."""

    def log(level: Level, owner: str, text: str, file: str, line: int | None) -> None:
        if (problem := _problem(level, owner, text, file, line)) is not None:
            report(problem)

    return log


def _problem(level: Level, owner: str, text: str, file: str, line: int | None) -> Problem | None:
    """What a user should know; None for what only stands in the log."""
    if level not in ("warn", "error"):
        return None
    return Problem(
        file or owner, "" if line is None else f"line {line}", f"{owner}: {text}", level="error" if level == "error" else "warning"
    )


def readable(text: str) -> str:
    """`text` as JSON can hold it."""
    return text.encode("utf-8", "replace").decode()
