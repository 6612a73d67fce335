"""Reading one note whole."""

import hashlib
import os
import stat
import time
from typing import Final

from msgspec import Struct

from treblehook.host.opening import open_unknown
from treblehook.kiln.files.stamp import Stamp

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a note at most. What is longer is no note that anybody reads, and would fill the index."""


class NoteUnread(Exception):
    """A note is there, but cannot be read; the message says why."""


class NoteTooBig(NoteUnread):
    """A note has more than `LARGEST` bytes."""


class Content(Struct, frozen=True):
    """The bytes of a note, what they hash to, and the stamp of the file; `settled` says whether a later write would change that."""

    data: bytes
    digest: bytes
    stamp: Stamp
    settled: bool

    @property
    def text(self) -> str:
        """The text; what is no UTF-8 becomes U+FFFD."""
        return self.data.decode("utf-8", "replace")


def read_content(file: str) -> Content:
    """Read a note. Raises `FileNotFoundError`, `NotADirectoryError`, and `NoteUnread` for anything else that goes wrong."""
    read_at = time.time_ns()
    try:
        with open_unknown(file, follow_link=False) as opened:
            status = os.fstat(opened.fileno())
            _check(status)
            data = opened.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise NoteUnread(error.strerror or str(error)) from error
    if len(data) > LARGEST:
        raise _too_big(len(data))
    stamp = Stamp.of(status)
    return Content(data, digest_of(data), stamp, stamp.settled(read_at))


def digest_of(data: bytes) -> bytes:
    """What tells contents apart."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _check(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NoteUnread("it is no regular file")
    if status.st_size > LARGEST:
        raise _too_big(status.st_size)


def _too_big(size: int) -> NoteTooBig:
    return NoteTooBig(f"it has {size:,} bytes, and a note has {LARGEST:,} at most")
