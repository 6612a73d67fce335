"""Notes that are written and deleted by tools and hooks (crucible.md 7.3)."""

import os
from pathlib import Path

from treblehook.host.notes import Written
from treblehook.host.tools.files import Refused, write_file
from treblehook.kiln.files.paths import PathRefused, inside
from treblehook.kiln.files.reading import LARGEST, NoteUnread, digest_of, read_content
from treblehook.kiln.index.errors import IndexFailed
from treblehook.kiln.index.index import Writing
from treblehook.kiln.kiln import Change, Kiln
from treblehook.lifecycle.daemon_events import NoteCreated, NoteDeleted, NoteModified


class Edit:
    """What is done to the note at `path` of `kiln`, a path as the index has it."""

    def __init__(self, kiln: Kiln, path: str) -> None:
        self.written: Written = "unchanged"
        self.existed = False
        self._kiln = kiln
        self._path = path
        self._replaced = False

    def write(self, text: str) -> Change:
        """Put `text` in its place at one stroke; the same text again does nothing, and announces nothing."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return self._failed("cannot be written: the text holds half of a surrogate pair")
        if len(data) > LARGEST:
            return self._failed(f"cannot be written: the text has {len(data):,} bytes, and a note has {LARGEST:,} at most")
        try:
            with self._kiln.index.database.write() as connection:
                return self._write(Writing(connection), data)
        except IndexFailed as failed:
            return self._failed(f"was written, but {failed}" if self._replaced else f"cannot be written: {failed}")
        except (OSError, Refused, NoteUnread, PathRefused) as error:
            return self._failed(f"cannot be written: {_reason(error)}")

    def delete(self) -> Change:
        """Delete it, and its entry in the index."""
        kiln = self._kiln
        try:
            with kiln.index.database.write() as connection:
                writing = Writing(connection)
                file = self._file(writing)
                indexed = writing.remove(self._path)
                try:
                    os.unlink(file)
                    self.existed = True
                except (FileNotFoundError, NotADirectoryError):
                    self.existed = indexed
        except (OSError, PathRefused) as error:
            return self._failed(f"cannot be deleted: {_reason(error)}")
        return Change([NoteDeleted(path=self._path, kiln=kiln.name, existed=self.existed)])

    def _write(self, writing: Writing, data: bytes) -> Change:
        kiln, path = self._kiln, self._path
        file = self._file(writing)
        if self._has(file, data):
            # Where it is not in the index yet, whoever wrote it is about to be noticed.
            return Change()
        write_file(Path(file), path, data)
        self._replaced = True
        relative = os.path.relpath(file, kiln.root)
        stored, note = writing.store(path, relative, read_content(file))
        self.written = stored
        if stored == "created" and note is not None:
            return Change([NoteCreated(path=path, kiln=kiln.name, title=note.title)])
        return Change([NoteModified(path=path, kiln=kiln.name)] if stored == "modified" else [])

    def _file(self, writing: Writing) -> str:
        known = writing.known(self._path)
        return inside(self._kiln.root, self._path if known is None else known.relative)

    def _has(self, file: str, data: bytes) -> bool:
        try:
            return read_content(file).digest == digest_of(data)
        except (FileNotFoundError, NotADirectoryError, NoteUnread):
            return False

    def _failed(self, message: str) -> Change:
        return Change([], self._kiln.problem(self._path, message))


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def read_text(kiln: Kiln, path: str) -> str:
    """The text of a note, without a byte order mark. Raises `NoteProblem`."""
    try:
        return read_content(inside(kiln.root, kiln.index.relative(path) or path)).text.removeprefix("\ufeff")
    except (FileNotFoundError, NotADirectoryError):
        raise kiln.problem(path, "does not exist") from None
    except (NoteUnread, PathRefused, OSError) as error:
        raise kiln.problem(path, f"cannot be read: {_reason(error)}") from error
