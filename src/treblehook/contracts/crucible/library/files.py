"""Work on files, as `cru.fs` does it: bytes as they are, a write that is whole or not at all, failures that name path and reason."""

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from treblehook.host.tools.files import Refused, regular_file, write_file

READ_BYTES: Final = 16 * 1024 * 1024
"""The longest file that is read: a machine has 64 MiB for everything."""


def read(path: Path) -> bytes:
    """The content of a regular file. Raises OSError."""
    try:
        descriptor = regular_file(path, str(path))
    except Refused:
        raise OSError(errno.EINVAL, _no_file(path), str(path)) from None
    with open(descriptor, "rb") as file:
        content = file.read(READ_BYTES + 1)
    if len(content) > READ_BYTES:
        raise OSError(errno.EFBIG, f"it is longer than {READ_BYTES} bytes", str(path))
    return content


def write(path: Path, content: bytes) -> None:
    """Replace the file at one stroke, or make it, with the folders above it. Raises OSError."""
    try:
        write_file(path, str(path), content)
    except Refused:
        raise OSError(errno.EINVAL, _no_file(path), str(path)) from None


def append(path: Path, content: bytes) -> None:
    """Add to the end of a file, which is made where it is missing, with the folders above it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without O_NONBLOCK, opening a named pipe would wait for a reader.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    with open(descriptor, "ab") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, _no_file(path), str(path))
        file.write(content)


def names(path: Path) -> list[bytes]:
    """What is in a folder, sorted by bytes. Raises OSError."""
    return sorted(map(os.fsencode, os.listdir(path)))


def remove(path: Path, recursive: bool) -> None:
    """Delete a file, a symbolic link (not what it leads to) or an empty folder; with `recursive` a folder with all that is in it.
    Raises OSError."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    elif recursive:
        shutil.rmtree(path)
    else:
        path.rmdir()


def copy(source: Path, destination: Path) -> None:
    """Copy a file with its mode, at one stroke; not into a folder but to a name. Raises OSError."""
    if not stat.S_ISREG(source.stat().st_mode):
        raise OSError(errno.EINVAL, _no_file(source), str(source))
    if destination.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(destination))
    destination.parent.mkdir(parents=True, exist_ok=True)
    draft = destination.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        shutil.copy2(source, draft)
        os.replace(draft, destination)
    finally:
        draft.unlink(missing_ok=True)


def rename(source: Path, destination: Path) -> None:
    """Move inside a disk; a file in the way is replaced. Raises OSError."""
    os.replace(source, destination)


def _no_file(path: Path) -> str:
    return "it is a folder" if path.is_dir() else "it is no regular file but a device, a pipe or a socket"
