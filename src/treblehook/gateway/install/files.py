"""Reading an agent's file and writing it: whole or not at all, through links, with a copy of the first version."""

import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.host.problems import ConfigInvalid, Problem

SUFFIX: Final = ".before-treblehook"
"""What the name of the copy of a first version ends with."""

PRIVATE: Final = 0o600
OTHERS: Final = 0o077
"""The mode bits of everybody but the owner."""


class Found(Struct, frozen=True):
    """A file as it was read: `content` is None where there is none. `target` is what it leads to, over links, `mode` its mode bits."""

    file: Path
    target: Path
    content: bytes | None
    mode: int | None = None

    @property
    def linked(self) -> bool:
        """Whether the file is reached over a link."""
        return self.target != self.file


class ChangedMeanwhile(Exception):
    """`file` is not any more what the change was made for; nothing was written."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file}: it was changed by somebody else meanwhile, so nothing was written")
        self.file = file


def find(file: Path) -> Found:
    """Read a file. Raises `ConfigInvalid` where it is there and cannot be read."""
    try:
        # Only the file's own links are followed here: a folder over it may be a link without anybody sharing the file for that.
        target = Path(os.path.realpath(file)) if file.is_symlink() else file
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigInvalid([Problem(str(file), "", "it is no regular file", "allowed: a file, or none")])
        return Found(file, target, target.read_bytes(), stat.S_IMODE(status.st_mode))
    except FileNotFoundError:
        return Found(file, target, None)
    except OSError as error:
        raise ConfigInvalid([Problem(str(file), "", f"it cannot be read: {error.strerror}")]) from error


def text_of(found: Found) -> str | None:
    """The content as text. Raises `ConfigInvalid` for what is no UTF-8."""
    if found.content is None:
        return None
    try:
        return found.content.decode()
    except UnicodeDecodeError as error:
        line = found.content.count(b"\n", 0, error.start) + 1
        message = f"found the byte 0x{found.content[error.start]:02x}, which is no UTF-8"
        raise ConfigInvalid([Problem(str(found.file), f"line {line}", message, "save the file as UTF-8")]) from error


def check_writable(found: Found) -> None:
    """Raises `ConfigInvalid` for a file that its owner has made read-only."""
    if found.mode is not None and not found.mode & stat.S_IWUSR:
        raise ConfigInvalid([Problem(str(found.file), "", f"it has mode {found.mode:04o}: it is read-only", f"chmod u+w {found.target}")])


def write(found: Found, content: bytes | None, mode: int | None) -> None:
    """Put `content` in the place of what was found, or remove it for None; folders that are missing are made. With `mode` the file gets
    that, else it keeps its own; a new one is for its owner only.

    Raises `ChangedMeanwhile`, and `ConfigInvalid` where it cannot be written; the file is as it was then.
    """
    made: list[Path] = []
    try:
        _make_folders(found.target.parent, made)
        if content is None:
            _check_unchanged(found)
            found.target.unlink()
        else:
            _put(found, content, mode if mode is not None else found.mode if found.mode is not None else PRIVATE)
    except OSError as error:
        drop_folders(made)
        raise ConfigInvalid([Problem(str(found.file), "", f"it cannot be written: {error.strerror}")]) from error
    except BaseException:
        drop_folders(made)
        raise


def first_of(file: Path) -> Path:
    """Where the copy of a file's first version is kept: beside it."""
    return file.with_name(file.name + SUFFIX)


def keep_first(found: Found) -> Path | None:
    """Keep a copy of what was found, in the place of one that an earlier installation has left; where it is, None for a file that was not
    there. Raises `ConfigInvalid`."""
    if found.content is None:
        return None
    copy = first_of(found.file)
    try:
        if os.path.lexists(copy) and (copy.is_symlink() or not copy.is_file()):
            raise ConfigInvalid([Problem(str(copy), "", "it is no regular file", f"move it away: a copy of {found.file} is kept there")])
        there = copy.read_bytes() if copy.exists() else None
        _put(Found(copy, copy, there), found.content, found.mode or PRIVATE)
    except OSError as error:
        raise ConfigInvalid([Problem(str(copy), "", f"no copy of {found.file} can be kept: {error.strerror}")]) from error
    return copy


def drop_first(file: Path, content: bytes | None) -> Path | None:
    """Remove the copy of the first version where the file is that again; a copy that differs from it stays, and where it is. Raises
    `ConfigInvalid` where it cannot be removed."""
    copy = first_of(file)
    try:
        if copy.is_file() and copy.read_bytes() != content:
            return copy
        copy.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigInvalid([Problem(str(copy), "", f"it cannot be removed: {error.strerror}")]) from error
    return None


def drop_folders(folders: Sequence[str | Path]) -> None:
    """Remove folders that were made for a file, the innermost first, as far as nothing else is in them."""
    for folder in reversed(folders):
        try:
            os.rmdir(folder)
        except OSError:
            # It is somebody else's by now.
            return


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make what is missing, and note it, outermost first."""
    if folder.is_dir():
        return
    _make_folders(folder.parent, made)
    folder.mkdir(mode=0o700)
    made.append(folder)


def _put(found: Found, content: bytes, mode: int) -> None:
    draft = found.target.with_name(f".{found.target.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as writing:
            writing.write(content)
            writing.flush()
            _keep_owner(writing.fileno(), found.target)
            os.fchmod(writing.fileno(), mode)
            os.fsync(writing.fileno())
        _check_unchanged(found)
        os.rename(draft, found.target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync(found.target.parent)


def _keep_owner(descriptor: int, target: Path) -> None:
    """The file stays whose it was, where somebody else changes it."""
    if target.exists():
        was, now = target.stat(), os.fstat(descriptor)
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            os.fchown(descriptor, was.st_uid, was.st_gid)


def _check_unchanged(found: Found) -> None:
    now = find(found.file)
    if (now.target, now.content) != (found.target, found.content):
        raise ChangedMeanwhile(found.file)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
