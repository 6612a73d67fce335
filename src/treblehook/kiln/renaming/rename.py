"""The renaming of a note: files first, then the index, and all of it taken back where anything fails (crucible.md 7.5)."""

import os
import stat

from msgspec import Struct

from treblehook.host.notes import NoteId, NoteProblem
from treblehook.host.tools.files import Refused
from treblehook.kiln.files.paths import PathRefused, inside
from treblehook.kiln.files.reading import NoteUnread, read_content
from treblehook.kiln.index.errors import IndexFailed
from treblehook.kiln.index.index import Writing
from treblehook.kiln.indexing.absorb import absorb_again
from treblehook.kiln.kiln import Change, Kiln
from treblehook.kiln.parsing import link_key
from treblehook.kiln.parsing.links import NOTE_SUFFIXES
from treblehook.kiln.renaming.files import FileChanges
from treblehook.kiln.renaming.meaning import Meaning
from treblehook.kiln.renaming.rewriting import Move, Unlinkable
from treblehook.lifecycle.daemon_events import NoteCreated, NoteDeleted, NoteModified, NoteRenamed


class _Rewrite(Struct, frozen=True):
    path: str
    relative: str
    before: bytes
    after: bytes


class Renaming:
    """Moves the note `source` of `kiln` to `destination`, both paths as the index has them. `rewritten` has the notes whose links
    were repointed."""

    def __init__(self, kiln: Kiln, source: str, destination: str) -> None:
        self.rewritten: list[NoteId] = []
        self._kiln = kiln
        self._source = source
        self._destination = destination
        self._changes = FileChanges()
        self._touched: list[str] = []

    def run(self) -> Change:
        """Do it. Its events are deleted, created, modified for each rewritten note, and renamed; none where it failed and could be
        taken back."""
        try:
            with self._kiln.index.database.write() as connection:
                change = self._carried_out(Writing(connection))
        except (OSError, Refused, NoteUnread, PathRefused, Unlinkable, IndexFailed, NoteProblem) as error:
            return self._taken_back(error)
        return change

    def _carried_out(self, writing: Writing) -> Change:
        kiln, changes = self._kiln, self._changes
        relative = self._relative(writing, self._source)
        source, destination = inside(kiln.root, relative), inside(kiln.root, self._destination)
        self._check(source, destination)
        rewrites = self._planned(writing, relative)
        changes.make_folder(os.path.dirname(destination))
        changes.move(source, destination)
        self._touched += [relative, self._destination]
        for one in rewrites:
            changes.rewrite(os.path.join(kiln.root, one.relative), one.before, one.after)
            self._touched.append(one.relative)
        writing.remove(self._source)
        _, note = writing.store(self._destination, self._destination, read_content(destination), force=True)
        others = [one for one in rewrites if one.path != self._destination]
        for one in others:
            writing.store(one.path, one.relative, read_content(os.path.join(kiln.root, one.relative)))
        self.rewritten = [NoteId(kiln.name, one.path) for one in others]
        return Change(
            [
                NoteDeleted(path=self._source, kiln=kiln.name, existed=True),
                NoteCreated(path=self._destination, kiln=kiln.name, title=note.title if note is not None else ""),
                *(NoteModified(path=one.path, kiln=kiln.name, change="links") for one in others),
                NoteRenamed(path=self._destination, kiln=kiln.name, source=self._source),
            ]
        )

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

    def _planned(self, writing: Writing, relative: str) -> list[_Rewrite]:
        """The notes that need other links. Their files are read now, since the index may be a moment behind."""
        kiln = self._kiln
        key, new_key = link_key(self._source), link_key(self._destination)
        before = {key: kiln.index.named_like(self._source), new_key: kiln.index.named_like(self._destination)}
        before[key] = sorted({*before[key], self._source})
        after = {name: [path for path in paths if path != self._source] for name, paths in before.items()}
        after[new_key] = sorted({*after[new_key], self._destination})
        move = Move(self._source, self._destination, Meaning(before), Meaning(after), self._exists)
        rewrites = []
        for path in sorted({*kiln.index.linking([key]), self._source}):
            own = path == self._source
            file = relative if own else self._relative(writing, path)
            try:
                data = read_content(os.path.join(kiln.root, file)).data
            except (FileNotFoundError, NotADirectoryError):
                continue
            except NoteUnread as unread:
                raise kiln.problem(path, f"links to {self._source} and cannot be read: {unread}") from unread
            # What is no UTF-8 in it stays as it is.
            text = move.rewritten(path, data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            if text != data:
                rewrites.append(_Rewrite(self._destination if own else path, self._destination if own else file, data, text))
        return rewrites

    def _exists(self, path: str) -> bool:
        # Links name notes without their suffix as well.
        return any(os.path.lexists(os.path.join(self._kiln.root, path + suffix)) for suffix in ("", *NOTE_SUFFIXES))

    def _relative(self, writing: Writing, path: str) -> str:
        known = writing.known(path)
        return path if known is None else known.relative

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
