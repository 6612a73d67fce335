"""Where the files of a launch are (murmur.md 8.2), and how they are written: folders with mode 0700, files with 0600."""

import errno
import os
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.host.private import make_private_folder

_BOOKKEEPING: Final = ("trace.jsonl", "MURMUR.md", "logs", "tools")
_SESSIONS: Final = ".murmur"


class Workdir(Struct, frozen=True):
    """`accessible` is the folder that the agent works in, `session` the one for the runtime's bookkeeping; they may be the same."""

    accessible: Path
    session: Path

    @property
    def task(self) -> Path:
        """The text of the task under way."""
        return self.accessible / "task.md"

    @property
    def trace(self) -> Path:
        """What happened, line by line."""
        return self.session / "trace.jsonl"

    @property
    def guide(self) -> Path:
        """What the agent is told of its place."""
        return self.session / "MURMUR.md"

    @property
    def logs(self) -> Path:
        """The folder of the logs."""
        return self.session / "logs"

    @property
    def tools(self) -> Path:
        """The folder with a folder for each tool."""
        return self.session / "tools"

    @property
    def out(self) -> Path:
        """The folder of what tasks came to."""
        return self.session / "out"

    def bookkeeping(self) -> list[Path]:
        """What the runtime alone writes to, of this launch and of others; the agent's file tools leave it alone."""
        return [self.accessible / _SESSIONS, *(self.session / name for name in _BOOKKEEPING)]

    def make(self) -> None:
        """Make the folders that a launch writes to. Raises `OSError`, also where one is a link: it may lead out of the workdir."""
        _check_no_link(self.session)
        for folder in (self.accessible, self.session, self.logs, self.tools, self.out):
            make_private_folder(folder)

    def bootstrap(self, line: str) -> None:
        """A line for the log of what the runtime itself decided. One that cannot be written holds nothing up (murmur.md 4.4)."""
        try:
            append_private(self.logs / "bootstrap.log", f"{line}\n")
        except OSError:
            return


def workdir_of(session: str, beside: Path, given: Path | None) -> Workdir:
    """The workdir of a launch: `given`, or one of its own in the folder `beside`."""
    if given is not None:
        given = Path(os.path.realpath(given))
        return Workdir(given, given / _SESSIONS / session)
    own = Path(os.path.realpath(beside)) / "workdir" / session
    return Workdir(own, own)


def write_private(path: Path, text: str | bytes, *, mode: int = 0o600) -> None:
    """Put `text` in the place of the file `path`; a link there, or in its place in a workdir, is not followed. Raises `OSError`."""
    _write(path, text, os.O_TRUNC, mode)


def append_private(path: Path, text: str) -> None:
    """Add `text` to the file `path`. Raises `OSError`."""
    _write(path, text, os.O_APPEND, 0o600)


def _write(path: Path, text: str | bytes, flags: int, mode: int) -> None:
    _check_no_link(path.parent)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, mode)
    with open(descriptor, "wb") as file:
        file.write(data)


def _check_no_link(folder: Path) -> None:
    """The agent may have put a link in the place of a folder, through which a file would be written elsewhere."""
    if os.path.realpath(folder) != os.fspath(folder):
        raise NotADirectoryError(errno.ENOTDIR, "a link stands in the place of a folder", os.fspath(folder))
