"""Code of a workspace, read once: what is hashed is what runs."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Final

from msgspec import Struct

from treblehook.contracts.crucible.plugins.source import SourceUnreadable, read_bytes

FOLDER: Final = Path(".crucible", "lua")
INIT: Final = "init.lua"
_MOST_FILES: Final = 1000
_MOST_BYTES: Final = 16 * 1024 * 1024
_DEEPEST: Final = 32


class Untrustable(Exception):
    """What a workspace brings cannot be hashed as a whole, so it can never be trusted; `path` is what is in the way."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Snapshot(Struct, frozen=True):
    """Code that comes with a workspace, as it was when it was read: the bytes that count by path inside `folder`, with `/` between the
    parts. Whoever runs it takes the bytes from here and does not read the files again.
    """

    kind: ClassVar[str]
    domain: ClassVar[bytes]
    folder: Path
    files: Mapping[str, bytes]

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file, in hex."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    @property
    def digest(self) -> str:
        """The SHA-256, in hex, of all names and all bytes; where the workspace is does not count."""
        whole = hashlib.sha256(self.domain)
        for name in sorted(self.files, key=os.fsencode):
            for part in (os.fsencode(name), self.files[name]):
                # With its length in front of each part, no two trees make the same text.
                whole.update(len(part).to_bytes(8, "big"))
                whole.update(part)
        return whole.hexdigest()


class WorkspaceLua(Snapshot, frozen=True):
    """Everything below `<workspace>/.crucible/lua`."""

    kind: ClassVar[str] = "lua"
    domain: ClassVar[bytes] = b"treblehook workspace lua 1\0"

    @property
    def init(self) -> Path:
        """The file that is evaluated; its bytes are in `files`."""
        return self.folder / INIT


def read_workspace(workspace: Path) -> WorkspaceLua | None:
    """The Lua of a workspace, None where it has no `init.lua`, since nothing of it would run then. Raises `Untrustable` as `read_tree`."""
    folder = workspace / FOLDER
    if not os.path.lexists(folder / INIT) and _can_be_entered(folder):
        return None
    files = read_tree(folder)
    return WorkspaceLua(folder, files) if INIT in files else None


def read_tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path inside.

    A link to a file inside is read as that file. Raises `Untrustable` for a link that leads out or to a folder, a file that is no
    regular one or cannot be read, and a tree of more than 1,000 files, 16 MiB or 32 levels.
    """
    files: dict[str, bytes] = {}
    size = 0
    for path in _files(folder, folder, _DEEPEST):
        if len(files) == _MOST_FILES:
            raise Untrustable(folder, f"there are more than {_MOST_FILES:,} files in it")
        content = read_file(path)
        size += len(content)
        if size > _MOST_BYTES:
            raise Untrustable(folder, f"its files have more than {_MOST_BYTES:,} bytes")
        files[path.relative_to(folder).as_posix()] = content
    return files


def read_file(path: Path) -> bytes:
    """The bytes of one file. Raises `Untrustable` where it is no regular one, too big, or cannot be read."""
    try:
        return read_bytes(path, _MOST_BYTES)
    except SourceUnreadable as unreadable:
        raise Untrustable(path, unreadable.why) from unreadable


def _can_be_entered(folder: Path) -> bool:
    """Whether what is in the folder can be seen, or there is no folder. Raises `Untrustable` where it cannot be told."""
    try:
        os.lstat(folder / INIT)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        raise Untrustable(folder, f"cannot be read: {error.strerror}") from error
    return True


def _files(folder: Path, whole: Path, levels: int) -> Iterator[Path]:
    if levels == 0:
        raise Untrustable(folder, f"it is more than {_DEEPEST} folders deep")
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                yield _linked(path, whole)
            elif entry.is_dir(follow_symlinks=False):
                yield from _files(path, whole, levels - 1)
            else:
                yield path
    except OSError as error:
        raise Untrustable(folder, f"cannot be read: {error.strerror}") from error


def _linked(path: Path, whole: Path) -> Path:
    """A link that may be read. What lies outside can change without anybody looking, and folders that are links can go in circles."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(whole)):
        raise Untrustable(path, f"is a link to {target}, outside {whole}")
    if stat.S_ISDIR(os.stat(path).st_mode):
        raise Untrustable(path, "is a link to a folder")
    return path
