"""A pass over all of a kiln, in steps that are committed one by one, so that it can be interrupted at any time and goes on later.

It announces no note that it indexes, only the entries whose file is gone (crucible.md 7.4).
"""

import os
import stat
from itertools import islice
from typing import Final

from msgspec import Struct

from treblehook.kiln.files.reading import NoteTooBig, NoteUnread, read_content
from treblehook.kiln.files.root import Root, is_empty
from treblehook.kiln.files.walk import Found, Walk, walk
from treblehook.kiln.index.index import NoteIndex, Writing
from treblehook.kiln.index.rows import Known

STEP: Final = 256
"""Notes of one transaction: whoever wants to write waits for so many."""

ROOT_FACT: Final = "root"
"""Which folder was at the kiln's place the last time."""


class ProcessComplete(Struct, frozen=True):
    """What a pass came to (crucible.md 7.4): of the notes that were found, some were indexed, some skipped (unchanged, or too big),
    some could not be read. `removed` counts the entries that went."""

    kiln: str
    discovered: int
    processed: int
    skipped: int
    errors: int
    removed: int = 0


class FullPass:
    """Look, step until it is done, sweep. `problems` holds, by path ("" for the kiln), what could not be done and why."""

    def __init__(self, index: NoteIndex, root: str, *, force: bool) -> None:
        self.found = Walk()
        self.problems: dict[str, str] = {}
        self.processed = self.skipped = self.errors = 0
        self._index = index
        self._root = root
        self._force = force
        self._folder: Root | None = None
        self._known: dict[str, Known] = {}
        self._left: list[tuple[str, Found]] = []
        self._removed = 0

    @property
    def discovered(self) -> int:
        """How many notes there are."""
        return len(self.found.notes)

    @property
    def left(self) -> int:
        """How many notes are still to be read."""
        return len(self._left)

    def look(self) -> None:
        """Find every note, and those that have to be read."""
        try:
            self._folder = Root.at(self._root)
        except OSError as error:
            self._lost(f"its folder {self._root} cannot be read: {error.strerror}")
            return
        self._known = self._index.known()
        self.found = walk(self._root)
        self.problems |= self.found.left_out | self.found.odd
        self.problems |= {folder: f"the folder cannot be read: {reason}" for folder, reason in self.found.unread.items()}
        self.errors += len(self.found.odd) + len(self.found.unread)
        # The last comes first, since the list is taken from its end.
        found = sorted(self.found.notes.items(), key=lambda item: item[0], reverse=True)
        self._left = [(path, one) for path, one in found if self._force or not self._is_unchanged(path, one)]
        self.skipped = self.discovered - self.left

    def step(self) -> None:
        """Read and index the next notes. Raises `IndexFailed`, and those notes are still to be read then."""
        batch = list(islice(reversed(self._left), STEP))
        processed = skipped = errors = 0
        with self._index.database.write() as connection:
            writing = Writing(connection)
            for path, found in batch:
                try:
                    content = read_content(os.path.join(self._root, found.relative))
                except (FileNotFoundError, NotADirectoryError):
                    skipped += 1
                except NoteUnread as unread:
                    self.problems[path] = str(unread)
                    skipped, errors = (skipped + 1, errors) if isinstance(unread, NoteTooBig) else (skipped, errors + 1)
                else:
                    stored, _ = writing.store(path, found.relative, content, force=self._force)
                    processed, skipped = (processed, skipped + 1) if stored == "unchanged" else (processed + 1, skipped)
        del self._left[len(self._left) - len(batch) :]
        self.processed, self.skipped, self.errors = self.processed + processed, self.skipped + skipped, self.errors + errors

    def sweep(self) -> list[str]:
        """Take out the entries whose file is gone, and answer their paths; none of them where the whole kiln may be gone."""
        if self._folder is None or not self._is_trusted():
            return []
        stale = [known for path, known in self._known.items() if path not in self.found.notes and self.found.knows(path)]
        gone = sorted(known.path for known in stale if self._is_gone(known))
        if not self._is_there():
            return []
        with self._index.database.write() as connection:
            writing = Writing(connection)
            removed = [path for path in gone if writing.remove(path)]
            writing.fact(ROOT_FACT, str(self._folder))
        self._removed = len(removed)
        return removed

    def complete(self) -> ProcessComplete:
        """What it came to."""
        return ProcessComplete(self._index.kiln, self.discovered, self.processed, self.skipped, self.errors, self._removed)

    def _is_unchanged(self, path: str, found: Found) -> bool:
        known = self._known.get(path)
        return known is not None and known.is_as(found)

    def _is_trusted(self) -> bool:
        """Whether an empty folder is the kiln itself, emptied, and not the place where its disk is mounted at other times."""
        if not self._known or self.found.notes or self._index.fact(ROOT_FACT) == str(self._folder) or not is_empty(self._root):
            return True
        self._lost(f"its folder {self._root} is another one than before, and empty; if its disk is not mounted, mount it")
        return False

    def _is_there(self) -> bool:
        """Whether the kiln's folder is the one that was walked through; a disk can go at any time."""
        try:
            there = Root.at(self._root) == self._folder
        except OSError:
            there = False
        if not there:
            self._lost(f"its folder {self._root} went away while it was indexed")
        return there

    def _is_gone(self, known: Known) -> bool:
        try:
            status = os.lstat(os.path.join(self._root, known.relative))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return not stat.S_ISREG(status.st_mode)

    def _lost(self, why: str) -> None:
        self.errors += 1
        self.problems[""] = f"{why}; what the index knows of its notes is kept"
