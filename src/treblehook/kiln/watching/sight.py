"""What was last seen of a kiln's files, and what has become of them.

The system tells that something happened to a path, not always what, and of a new or moved folder nothing of what is in it. So a path
that came to rest is looked at, and compared with what was seen of it before.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from treblehook.kiln.files.paths import is_note
from treblehook.kiln.files.root import Root
from treblehook.kiln.files.stamp import Stamp
from treblehook.kiln.files.walk import Found, Walk, walk


class KilnLost(Exception):
    """The kiln's folder is not there any more, or is another one."""


class Seen(Struct, frozen=True):
    """What has become of a file. One that was moved inside the kiln is `created`, and has its old path as `source`."""

    kind: Literal["created", "modified", "deleted"]
    relative: str
    source: str | None = None


class Sight:
    """The files of the kiln in `root`, as they were last seen."""

    def __init__(self, root: str, folder: Root, found: Mapping[str, Found]) -> None:
        self._root = root
        self._folder = folder
        self._stamps = {one.relative: one.stamp for one in found.values()}

    def check(self) -> None:
        """Raises `KilnLost` where the kiln is not there any more."""
        try:
            there = Root.at(self._root) == self._folder
        except OSError:
            there = False
        if not there:
            raise KilnLost

    def look(self, relatives: Iterable[str]) -> tuple[list[Seen], list[str]]:
        """Look at paths to which something happened; answers what has become of the files there, and the folders among the paths.

        Deletions come first. Raises `KilnLost`, and nothing counts as seen then.
        """
        files: dict[str, None] = {}
        folders: list[str] = []
        known_folders: set[str] | None = None
        for relative in relatives:
            mode = _mode(os.path.join(self._root, relative))
            if mode is not None and stat.S_ISDIR(mode):
                folders.append(relative)
                files |= dict.fromkeys(found.relative for found in walk(self._root, relative).notes.values())
            if relative not in self._stamps and (mode is None or stat.S_ISDIR(mode)):
                # It may be, or have been, a folder. Most paths are those of files, for which nobody asks this.
                known_folders = self._folders() if known_folders is None else known_folders
                if relative in known_folders:
                    files |= dict.fromkeys(path for path in self._stamps if path.startswith(f"{relative}/"))
            if is_note(os.path.basename(relative)):
                files[relative] = None
        now = {relative: self._stamp(relative) for relative in files}
        self.check()
        return self._compared(now), folders

    def everything(self) -> list[str]:
        """The paths of all files that are not as they were last seen. Raises `KilnLost`."""
        there: Walk = walk(self._root)
        self.check()
        stamps = {found.relative: found.stamp for found in there.notes.values()}
        changed = [relative for relative, stamp in stamps.items() if self._stamps.get(relative) != stamp]
        return changed + [relative for relative in self._stamps if relative not in stamps]

    def _compared(self, now: Mapping[str, Stamp | None]) -> list[Seen]:
        gone = [relative for relative, stamp in now.items() if stamp is None and relative in self._stamps]
        origins = {self._stamps[relative].inode: relative for relative in gone}
        appeared: list[Seen] = []
        for relative, stamp in now.items():
            before = self._stamps.get(relative)
            if stamp is None or stamp == before:
                continue
            source = None if before is not None else self._origin(stamp, origins)
            appeared.append(Seen("created" if before is None else "modified", relative, source))
            self._stamps[relative] = stamp
        moved = {seen.source for seen in appeared}
        for relative in gone:
            del self._stamps[relative]
        return [Seen("deleted", relative) for relative in gone if relative not in moved] + appeared

    def _origin(self, stamp: Stamp, origins: dict[int, str]) -> str | None:
        source = origins.get(stamp.inode)
        if source is None or not stamp.same_file(self._stamps[source]):
            return None
        del origins[stamp.inode]
        return source

    def _stamp(self, relative: str) -> Stamp | None:
        """The stamp of a file that is there, None for one that is gone; one that cannot be looked at is as it was."""
        try:
            status = os.lstat(os.path.join(self._root, relative))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return self._stamps.get(relative)
        return Stamp.of(status) if stat.S_ISREG(status.st_mode) else None

    def _folders(self) -> set[str]:
        found: set[str] = set()
        for relative in self._stamps:
            while (relative := os.path.dirname(relative)) and relative not in found:
                found.add(relative)
        return found


def _mode(file: str) -> int | None:
    try:
        return os.lstat(file).st_mode
    except OSError:
        return None
