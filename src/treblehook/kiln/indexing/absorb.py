"""Bringing a few changed files into the index, and what is to be announced of them (crucible.md 7.2)."""

import os
from collections.abc import Sequence

from msgspec import Struct

from treblehook.kiln.files.paths import note_path
from treblehook.kiln.files.reading import NoteUnread, read_content
from treblehook.kiln.index.index import NoteIndex, Writing
from treblehook.kiln.watching.sight import Seen
from treblehook.lifecycle.daemon_events import DaemonEvent, FileChanged, FileDeleted, FileMoved, NoteCreated, NoteDeleted, NoteModified


class Absorbed(Struct):
    """What is to be announced, in order, once the index says so too; `problems` are by the path of the note."""

    events: list[DaemonEvent] = []
    problems: dict[str, str] = {}


def absorb(index: NoteIndex, root: str, seen: Sequence[Seen]) -> Absorbed:
    """Index what was seen, in one transaction. Raises `IndexFailed`: nothing of it is in the index then."""
    done = Absorbed()
    with index.database.write() as connection:
        writing = Writing(connection)
        for one in seen:
            done.events.append(file_event(root, one))
            if one.source is not None:
                _remove(writing, index.kiln, one.source, done)
            if one.kind == "deleted":
                _remove(writing, index.kiln, one.relative, done)
            else:
                take_in(writing, index.kiln, root, one.relative, done)
    return done


def file_event(root: str, seen: Seen) -> DaemonEvent:
    """What is announced of the file itself; its path is absolute."""
    path = note_path(os.path.join(root, seen.relative))
    if seen.source is not None:
        return FileMoved(source=note_path(os.path.join(root, seen.source)), destination=path)
    return FileDeleted(path=path) if seen.kind == "deleted" else FileChanged(path=path, change=seen.kind)


def take_in(writing: Writing, kiln: str, root: str, relative: str, done: Absorbed) -> None:
    """Index one file, and add what is to be announced."""
    path = note_path(relative)
    try:
        content = read_content(os.path.join(root, relative))
    except (FileNotFoundError, NotADirectoryError):
        # It has gone again, and that will be seen as well.
        return
    except NoteUnread as unread:
        done.problems[path] = str(unread)
        return
    stored, note = writing.store(path, relative, content)
    if stored == "created" and note is not None:
        done.events.append(NoteCreated(path=path, kiln=kiln, title=note.title))
    elif stored == "modified":
        done.events.append(NoteModified(path=path, kiln=kiln))


def _remove(writing: Writing, kiln: str, relative: str, done: Absorbed) -> None:
    # What the index does not know has been announced by whoever took it out.
    path = note_path(relative)
    if writing.remove(path):
        done.events.append(NoteDeleted(path=path, kiln=kiln, existed=True))


def absorb_again(index: NoteIndex, root: str, relatives: Sequence[str]) -> Absorbed:
    """Index files that were announced when the index could not take them. Raises `IndexFailed`."""
    done = Absorbed()
    with index.database.write() as connection:
        writing = Writing(connection)
        for relative in relatives:
            if os.path.lexists(os.path.join(root, relative)):
                take_in(writing, index.kiln, root, relative, done)
            else:
                _remove(writing, index.kiln, relative, done)
    return done
