"""Keeps a session to one process."""

import fcntl
import os
import time
from pathlib import Path

from treblehook.agent.transcript.errors import SessionBusy

_LOCKS = Path("/proc/locks")
_TRIES = 50
_PAUSE_SECONDS = 0.02


def lock_session(descriptor: int, path: Path) -> None:
    """Take the lock of the session file `path`, open as `descriptor`; it ends with the descriptor, so also with a killed process.

    Raises `SessionBusy`, and `OSError` where the file system has no locks.
    """
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = _holder(descriptor)
        # A child that a killed process was just starting holds its descriptors until it has become another program; then the
        # holder is dead, or is gone before it can be looked up.
        if holder is not None and _lives(holder):
            break
        time.sleep(_PAUSE_SECONDS)
    raise SessionBusy(path, holder)


def _lives(process: int) -> bool:
    return os.path.exists(f"/proc/{process}")


def _holder(descriptor: int) -> int | None:
    """The process that has the lock, where the system tells (Linux, and not across containers)."""
    status = os.fstat(descriptor)
    file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        # Another system; who it is stays unknown.
        return None
    # 1: FLOCK  ADVISORY  WRITE 4711 08:01:131077 0 EOF
    for fields in map(str.split, lines):
        if fields[1] == "FLOCK" and fields[5:6] == [file] and int(fields[4]) > 0:
            return int(fields[4])
    return None
