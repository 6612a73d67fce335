"""Reading a file of Lua, whatever stands in its place."""

import os
import stat
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 4 * 1024 * 1024
"""More is no program that somebody wrote."""


class SourceUnreadable(Exception):
    """A file cannot be read as Lua; `path` is the file, `place` the line in it or "", `why` what is wrong."""

    def __init__(self, path: Path, why: str, place: str = "") -> None:
        super().__init__(f"{path}: {f'{place}: ' if place else ''}{why}")
        self.path = path
        self.place = place
        self.why = why


def read_source(path: Path) -> bytes:
    """The bytes of a Lua file. Raises `SourceUnreadable` for what is no regular file, too big, not UTF-8, or cannot be read."""
    return checked_source(path, read_bytes(path, MOST_BYTES))


def checked_source(path: Path, content: bytes) -> bytes:
    """The bytes that were read from a Lua file. Raises `SourceUnreadable` where they are not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceUnreadable(path, f"byte 0x{content[error.start]:02x} is not UTF-8", f"line {line}") from error
    return content


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a regular file, links followed. Raises `SourceUnreadable`, for one of more than `most` bytes too."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SourceUnreadable(path, f"cannot be read: {error.strerror}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise SourceUnreadable(path, "is no regular file")
        content = b"" if found.st_size > most else _read(descriptor, most + 1)
    except OSError as error:
        raise SourceUnreadable(path, f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    if found.st_size > most or len(content) > most:
        raise SourceUnreadable(path, f"is too big: {max(found.st_size, len(content)):,} bytes, {most:,} are allowed")
    return content


def _read(descriptor: int, most: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(most)
