"""The files of one resolution: each inside the root, of a bounded size, and not too many of them (murmur.md 5.7)."""

import os
import re
import stat
from pathlib import Path
from typing import Final

FILE_BYTES: Final = 262_144
MOST_FILES: Final = 32
DEEPEST: Final = 8

_ODD: Final = "\0\v\f"
_DESCRIPTORS: Final = "/proc/self/fd"


class Unreadable(Exception):
    """The resolution has no answer; the message says why."""


class Files:
    """Reads the files of one resolution. `root` is the folder in which the command runs; paths are absolute. `asked` are those of files
    that were read or looked for."""

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)
        if not os.path.isdir(self.root):
            raise Unreadable(f"{root} is no folder")
        self._below = os.path.join(self.root, "")
        self._read = 0
        self.asked: list[str] = []

    def folder(self, path: str) -> str:
        """The folder `path` below the root. Raises `Unreadable`."""
        try:
            found = os.path.realpath(os.path.join(self.root, path), strict=True)
        except (OSError, ValueError) as error:
            raise Unreadable(f"{path} cannot be reached") from error
        self._check_inside(found)
        if not os.path.isdir(found):
            raise Unreadable(f"{path} is no folder")
        return found

    def text(self, path: str) -> str | None:
        """What is in the file; None where there is none. Raises `Unreadable` for one that may not be read."""
        self.asked.append(path)
        try:
            # Without O_NONBLOCK, opening a named pipe would wait for a writer.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            if os.path.islink(path):
                raise Unreadable(f"{path} leads nowhere") from None
            return None
        except (OSError, ValueError) as error:
            raise Unreadable(f"{path} cannot be read") from error
        try:
            return self._content(descriptor, path)
        finally:
            os.close(descriptor)

    def exists(self, path: str) -> bool:
        """Whether there is something of that name, even a link that leads nowhere."""
        return os.path.lexists(path)

    def names(self, folder: str) -> frozenset[str]:
        """What lies in a folder; nothing where there is none. Raises `Unreadable`."""
        try:
            return frozenset(os.listdir(folder))
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise Unreadable(f"{folder} cannot be listed") from error

    def _content(self, descriptor: int, path: str) -> str:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(f"{path} is no regular file")
        self._check_inside(_real_path(descriptor, path))
        self._read += 1
        if self._read > MOST_FILES:
            raise Unreadable(f"more than {MOST_FILES} files")
        try:
            content = _bytes(descriptor)
        except OSError as error:
            raise Unreadable(f"{path} cannot be read") from error
        if len(content) > FILE_BYTES:
            raise Unreadable(f"{path} has more than {FILE_BYTES} bytes")
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"{path} is not UTF-8") from error
        if text.startswith("\ufeff") or any(character in text for character in _ODD) or ("\r" in text and re.search("\r(?!\n)", text)):
            raise Unreadable(f"{path} has characters that tools read in different ways")
        return text

    def _check_inside(self, real: str) -> None:
        if real != self.root and not real.startswith(self._below):
            raise Unreadable(f"{real} lies outside {self.root}")


def _real_path(descriptor: int, path: str) -> str:
    """Where an open file really is: what was opened, not what the path leads to by now."""
    try:
        return os.readlink(f"{_DESCRIPTORS}/{descriptor}")
    except OSError:
        return os.path.realpath(path)


def _bytes(descriptor: int) -> bytes:
    content = os.read(descriptor, FILE_BYTES + 1)
    while len(content) <= FILE_BYTES and (more := os.read(descriptor, FILE_BYTES + 1 - len(content))):
        content += more
    return content
