"""Whether a home's folder is private, can be written to, and has room."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from treblehook.home.health.finding import Finding

LITTLE_BYTES: Final = 100 * 1024 * 1024
"""Less room than this is worth a warning: session files only grow."""

_TRIAL: Final = b"treblehook\n" * 1024


def storage(home: Path) -> Iterator[Finding]:
    """The folder's owner and mode, and a file written and removed again."""
    yield _access(home)
    yield _writing(home)
    yield _room(home)


def _access(home: Path) -> Finding:
    status = home.stat()
    mode = stat.S_IMODE(status.st_mode)
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        message = f"{home} has mode {mode:04o}: others may write to it, and so decide what runs with your rights"
        return Finding("home", "warning", message, f"chmod go-w {home}")
    if status.st_uid not in (os.getuid(), 0):
        message = f"{home} belongs to the user with the id {status.st_uid}, who decides what runs with your rights"
        return Finding("home", "warning", message, "use a home of your own: --home DIR")
    return Finding("home", "ok", f"{home}, mode {mode:04o}")


def _writing(home: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=home, prefix=".treblehook-doctor-") as file:
            file.write(_TRIAL)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"{home} cannot be written to: {error.strerror}; no session can be kept"
        return Finding("writing", "error", message, "make room, or make the folder yours and writable")
    return Finding("writing", "ok", "a file could be written and removed")


def _room(home: Path) -> Finding:
    free = shutil.disk_usage(home).free
    if free < LITTLE_BYTES:
        return Finding("disk", "warning", f"{free // 1024**2} MiB are free", "make room: session files only grow")
    return Finding("disk", "ok", f"{free / 1024**3:.1f} GiB are free")
