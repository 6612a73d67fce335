"""Compiled code on disk. What is in here is executed as it is, so a file that somebody else could have written is not even looked at."""

import mmap
import os
import stat
import struct
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

_TRAILER: Final = struct.Struct("<8sQI")
_SIGN: Final = b"treble\x01\n"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CodeCache:
    """Files in `folder`, which is made for this user alone. None is trusted that is not whole, not ours or open to others' writing.

    The cache is never needed: `problem` says why it could not be used the last time that it could not, and None otherwise.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problem: str | None = None

    def find(self, key: str) -> Path | None:
        """The file with the code of `key`, if there is one that can be trusted."""
        path = self._folder / f"{key}.cwasm"
        try:
            self._check_folder()
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problem = str(error)
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or _open_to_others(status):
                self.problem = f"{path} could have been written by somebody else"
                return None
            return path if _whole(descriptor, status.st_size) else None
        except OSError as error:
            self.problem = str(error)
            return None
        finally:
            os.close(descriptor)

    def store(self, key: str, code: bytearray) -> None:
        """Keep the code of `key`; it appears whole or not at all, whoever else does the same."""
        name = None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_folder()
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            with os.fdopen(descriptor, "wb") as file:
                file.write(code)
                file.write(_TRAILER.pack(_SIGN, len(code), zlib.crc32(code)))
            os.replace(name, self._folder / f"{key}.cwasm")
        except OSError as error:
            self.problem = str(error)
            if name is not None:
                with suppress(OSError):
                    os.unlink(name)

    def _check_folder(self) -> None:
        status = os.lstat(self._folder)
        if not stat.S_ISDIR(status.st_mode) or _open_to_others(status):
            raise PermissionError(f"{self._folder} is not a folder that only this user can write to")


def _open_to_others(status: os.stat_result) -> bool:
    return status.st_uid != os.geteuid() or bool(status.st_mode & _OTHERS_WRITE)


def _whole(descriptor: int, size: int) -> bool:
    """Whether a file ends with the sum of what is before. The library does not check its code, and would run what a bad disk left."""
    if size <= _TRAILER.size:
        return False
    with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)) as content:
        sign, length, crc = _TRAILER.unpack_from(content, size - _TRAILER.size)
        if sign != _SIGN or length != size - _TRAILER.size:
            return False
        with memoryview(content) as view, view[:length] as code:
            return bool(zlib.crc32(code) == crc)
