"""Which process looks after a kiln: one at a time."""

import fcntl
import os
from pathlib import Path
from typing import Self

from treblehook.host.private import make_private_folder


class Ownership:
    """Held by the process that watches a kiln; the system takes it back however that process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, file: Path) -> Self | None:
        """Take it; None where another process (or another holder in this one) has it. Raises `OSError`."""
        make_private_folder(file.parent)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        return cls(descriptor)

    def release(self) -> None:
        """Give it back."""
        os.close(self._descriptor)


def owner(file: Path) -> int | None:
    """The process that looks after the kiln with this lock file; None where there is none. Raises `OSError`."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.read(descriptor, 32) or 0)
    finally:
        os.close(descriptor)
    return None
