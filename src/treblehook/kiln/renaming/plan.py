"""What a renaming changes beside the note's own path: which notes need other links, and what the index has to know."""

import os

from msgspec import Struct

from treblehook.kiln.files.reading import NoteUnread, digest_of, read_content
from treblehook.kiln.index.index import Writing
from treblehook.kiln.kiln import Kiln
from treblehook.kiln.parsing import link_key
from treblehook.kiln.parsing.links import NOTE_SUFFIXES
from treblehook.kiln.renaming.meaning import Meaning
from treblehook.kiln.renaming.rewriting import Move
from treblehook.lifecycle.daemon_events import DaemonEvent, NoteCreated, NoteDeleted, NoteModified, NoteRenamed


class Rewrite(Struct, frozen=True):
    """Other content for the note at `path`, whose file in the kiln is `relative`; both are as they are once the note has moved."""

    path: str
    relative: str
    before: bytes
    after: bytes


class Plan:
    """For the note `source` of `kiln`, which goes to `destination`."""

    def __init__(self, kiln: Kiln, source: str, destination: str) -> None:
        self._kiln = kiln
        self._source = source
        self._destination = destination

    def rewrites(self, writing: Writing, own: str, digest: str = "") -> list[Rewrite]:
        """The notes that need other links. Their files are read now, since the index may be a moment behind. `own` is the file of
        the note itself in the kiln; with a `digest` it stays as it is unless it has that.

        Raises `Unlinkable`, `NoteProblem` and `NoteUnread`.
        """
        kiln = self._kiln
        move = self._move()
        rewrites = []
        for path in sorted({*kiln.index.linking([link_key(self._source)]), self._source} - {self._destination}):
            mine = path == self._source
            file = own if mine else relative_of(writing, path)
            try:
                data = read_content(os.path.join(kiln.root, file)).data
            except (FileNotFoundError, NotADirectoryError):
                continue
            except NoteUnread as unread:
                raise kiln.problem(path, f"links to {self._source} and cannot be read: {unread}") from unread
            if mine and digest and digest_of(data).hex() != digest:
                continue
            # What is no UTF-8 in it stays as it is.
            text = move.rewritten(path, data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            if text != data:
                rewrites.append(Rewrite(self._destination if mine else path, self._destination if mine else file, data, text))
        return rewrites

    def take_in(self, writing: Writing, others: list[Rewrite]) -> list[DaemonEvent]:
        """Bring the index up to what was done to the note and to the `others`; answers what is told of it. Raises `OSError` and
        `NoteUnread`."""
        kiln, destination = self._kiln, self._destination
        writing.remove(self._source)
        _, note = writing.store(destination, destination, read_content(os.path.join(kiln.root, destination)), force=True)
        for one in others:
            writing.store(one.path, one.relative, read_content(os.path.join(kiln.root, one.relative)))
        return [
            NoteDeleted(path=self._source, kiln=kiln.name, existed=True),
            NoteCreated(path=destination, kiln=kiln.name, title=note.title if note is not None else ""),
            *(NoteModified(path=one.path, kiln=kiln.name, change="links") for one in others),
            NoteRenamed(path=destination, kiln=kiln.name, source=self._source),
        ]

    def _move(self) -> Move:
        index, source, destination = self._kiln.index, self._source, self._destination
        key, new_key = link_key(source), link_key(destination)
        # The destination is there already where a renaming is finished that was broken off.
        before = {
            name: [path for path in index.named_like(like) if path != destination] for name, like in ((key, source), (new_key, destination))
        }
        before[key] = sorted({*before[key], source})
        after = {name: [path for path in paths if path != source] for name, paths in before.items()}
        after[new_key] = sorted({*after[new_key], destination})
        return Move(source, destination, Meaning(before), Meaning(after), self._exists)

    def _exists(self, path: str) -> bool:
        # Links name notes without their suffix as well.
        return any(os.path.lexists(os.path.join(self._kiln.root, path + suffix)) for suffix in ("", *NOTE_SUFFIXES))


def relative_of(writing: Writing, path: str) -> str:
    """The file of a note in the kiln."""
    known = writing.known(path)
    return path if known is None else known.relative
