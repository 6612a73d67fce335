"""The renaming of a note: files first, then the index, and all of it taken back where anything fails (crucible.md 7.5)."""

import os
import stat

from treblehook.host.notes import NoteId, NoteProblem
from treblehook.host.tools.files import Refused
from treblehook.kiln.files.paths import PathRefused, inside
from treblehook.kiln.files.reading import NoteUnread, read_content
from treblehook.kiln.index.errors import IndexFailed
from treblehook.kiln.index.index import Writing
from treblehook.kiln.indexing.absorb import absorb_again
from treblehook.kiln.kiln import Change, Kiln
from treblehook.kiln.renaming.files import FileChanges
from treblehook.kiln.renaming.journal import Begun, Journal
from treblehook.kiln.renaming.plan import Plan, relative_of
from treblehook.kiln.renaming.rewriting import Unlinkable


class Renaming:
    """Moves the note `source` of `kiln` to `destination`, both paths as the index has them. `rewritten` has the notes whose links
    were repointed."""

    def __init__(self, kiln: Kiln, source: str, destination: str) -> None:
        self.rewritten: list[NoteId] = []
        self._kiln = kiln
        self._source = source
        self._destination = destination
        self._plan = Plan(kiln, source, destination)
        self._journal = Journal(kiln.index.database.file)
        self._changes = FileChanges()
        self._touched: list[str] = []

    def run(self) -> Change:
        """Do it. Its events are deleted, created, modified for each rewritten note, and renamed; none where it failed and could be
        taken back."""
        try:
            with self._kiln.index.database.write() as connection:
                change = self._carried_out(Writing(connection))
                # All files are as they shall be, and the index follows them.
                self._journal.end()
        except (OSError, Refused, NoteUnread, PathRefused, Unlinkable, IndexFailed, NoteProblem) as error:
            change = self._taken_back(error)
            self._journal.end()
        return change

    def _carried_out(self, writing: Writing) -> Change:
        kiln, changes = self._kiln, self._changes
        relative = relative_of(writing, self._source)
        source, destination = inside(kiln.root, relative), inside(kiln.root, self._destination)
        self._check(source, destination)
        rewrites = self._plan.rewrites(writing, relative)
        self._journal.begin(Begun(self._source, self._destination, read_content(source).digest.hex()))
        changes.make_folder(os.path.dirname(destination))
        changes.move(source, destination)
        self._touched += [relative, self._destination]
        for one in rewrites:
            changes.rewrite(os.path.join(kiln.root, one.relative), one.before, one.after)
            self._touched.append(one.relative)
        others = [one for one in rewrites if one.path != self._destination]
        events = self._plan.take_in(writing, others)
        self.rewritten = [NoteId(kiln.name, one.path) for one in others]
        return Change(events)

    def _check(self, source: str, destination: str) -> None:
        try:
            status = os.lstat(source)
        except (FileNotFoundError, NotADirectoryError):
            raise self._kiln.problem(self._source, "does not exist") from None
        if not stat.S_ISREG(status.st_mode):
            raise self._kiln.problem(self._source, "is no regular file")
        same = source == destination
        if same or (os.path.lexists(destination) and not os.path.samestat(os.lstat(destination), status)):
            raise self._kiln.problem(self._destination, "is its path already" if same else "exists already")

    def _taken_back(self, error: Exception) -> Change:
        kiln = self._kiln
        stays = self._changes.take_back()
        why = f"cannot be renamed to {self._destination}: {_reason(error)}"
        problem = error if isinstance(error, NoteProblem) else kiln.problem(self._source, why)
        if not stays:
            return Change([], problem)
        # The index follows what is on disk now, and says so.
        try:
            events = absorb_again(kiln.index, kiln.root, self._touched).events
        except IndexFailed as failed:
            events, stays = [], [*stays, str(failed)]
        return Change(events, NoteProblem(f"{problem}; and not all of it could be undone: {'; '.join(stays)}"))


def _reason(error: Exception) -> str:
    if isinstance(error, Unlinkable):
        return "notes link to it, and no link can have this name"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
