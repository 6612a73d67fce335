"""The folder of a kiln, which may be on a disk that comes and goes."""

import os

from msgspec import Struct


class Root(Struct, frozen=True):
    """Which folder was found at a kiln's place: another one has another identity."""

    device: int
    inode: int

    @classmethod
    def at(cls, path: str) -> "Root":
        """The folder there now. Raises `OSError` where there is none, or it cannot be listed."""
        with os.scandir(path):
            status = os.stat(path)
        return cls(status.st_dev, status.st_ino)

    def __str__(self) -> str:
        return f"{self.device}:{self.inode}"


def is_empty(path: str) -> bool:
    """Whether there is nothing at all in a folder, hidden or not. Raises `OSError`."""
    with os.scandir(path) as entries:
        return next(entries, None) is None
