"""The files of one resolution: each inside the root, of a bounded size, and not too many of them (murmur.md 5.7)."""

import os
import stat
from pathlib import Path
from typing import Final

FILE_BYTES: Final = 262_144
MOST_FILES: Final = 32
DEEPEST: Final = 8


class Unreadable(Exception):
    """The resolution has no answer; the message says why."""


class Files:
    """Reads the files of one resolution. `root` is the folder in which the command runs."""

    def __init__(self, root: Path) -> None:
        try:
            self.root = root.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise Unreadable(f"{root} is not there") from error
        self._read = 0

    def folder(self, path: str) -> Path:
        """The folder `path` below the root. Raises `Unreadable`."""
        found = self._inside(self.root / path)
        if found is None or not found.is_dir():
            raise Unreadable(f"{path} is no folder")
        return found

    def text(self, path: Path) -> str | None:
        """What is in the file; None where there is none. Raises `Unreadable` for one that may not be read."""
        found = self._inside(path)
        if found is None:
            return None
        self._read += 1
        if self._read > MOST_FILES:
            raise Unreadable(f"more than {MOST_FILES} files")
        try:
            return self._bytes(found).decode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"{found} is not UTF-8") from error

    def exists(self, path: Path) -> bool:
        """Whether there is something of that name, even a link that leads nowhere."""
        return os.path.lexists(path)

    def _inside(self, path: Path) -> Path | None:
        """The real path, None where there is nothing. Raises `Unreadable` outside the root."""
        try:
            real = path.resolve(strict=True)
        except FileNotFoundError:
            if os.path.islink(path):
                raise Unreadable(f"{path} leads nowhere") from None
            return None
        except (OSError, RuntimeError, ValueError) as error:
            raise Unreadable(f"{path} cannot be reached") from error
        if not real.is_relative_to(self.root):
            raise Unreadable(f"{path} lies outside {self.root}")
        return real

    def _bytes(self, path: Path) -> bytes:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise Unreadable(f"{path} is no regular file")
                content = file.read(FILE_BYTES + 1)
        except OSError as error:
            raise Unreadable(f"{path} cannot be read") from error
        if len(content) > FILE_BYTES:
            raise Unreadable(f"{path} has more than {FILE_BYTES} bytes")
        return content
