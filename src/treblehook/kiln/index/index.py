"""The index of one kiln: what is asked of it, and how notes come into it and go."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from treblehook.host.notes import NoteInfo
from treblehook.kiln.files.reading import Content
from treblehook.kiln.files.stamp import Stamp
from treblehook.kiln.index.database import Database, remove
from treblehook.kiln.index.rows import INFO, KNOWN, Known, clear, info_of, known_of, put
from treblehook.kiln.parsing import ParsedNote, link_key

Stored = Literal["created", "modified", "unchanged"]


class Writing:
    """Changes to an index, inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, path: str) -> Known | None:
        """What is known of a note's file."""
        row = self._connection.execute(f"{KNOWN} WHERE path = ?", (path,)).fetchone()
        return None if row is None else known_of(row)

    def store(self, path: str, relative: str, content: Content, *, force: bool = False) -> tuple[Stored, ParsedNote | None]:
        """Take in a note; what has not changed is not parsed again, unless it is forced."""
        known = self.known(path)
        if known is not None and known.digest == content.digest and not force:
            self._stamped(known, content)
            return "unchanged", None
        note = put(self._connection, path, relative, content, forget=None if known is None else known.id)
        return "created" if known is None else "modified", note

    def remove(self, path: str) -> bool:
        """Take out a note; false where there is none."""
        known = self.known(path)
        if known is not None:
            clear(self._connection, known.id)
        return known is not None

    def fact(self, name: str, value: str) -> None:
        """Remember something about the whole kiln."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _stamped(self, known: Known, content: Content) -> None:
        stamp = content.stamp
        changed_ns = stamp.changed_ns if content.settled else 0
        if known.stamp != Stamp(stamp.size, stamp.modified_ns, changed_ns, stamp.inode):
            self._connection.execute(
                "UPDATE notes SET size = ?, modified_ns = ?, changed_ns = ?, inode = ? WHERE id = ?",
                (stamp.size, stamp.modified_ns, changed_ns, stamp.inode, known.id),
            )


class NoteIndex:
    """What is known of the notes of the kiln `kiln`. Raises `IndexFailed` in every method."""

    def __init__(self, kiln: str, file: Path, root: str) -> None:
        self.kiln = kiln
        self.database = Database(file, root)
        self._root = root

    def fact(self, name: str) -> str:
        """What was remembered, "" for nothing."""
        with self.database.read() as connection:
            row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def known(self) -> dict[str, Known]:
        """What is known of every file, by path."""
        with self.database.read() as connection:
            found = map(known_of, connection.execute(KNOWN))
            return {known.path: known for known in found}

    def relative(self, path: str) -> str | None:
        """The path on disk of a note; None where there is none."""
        with self.database.read() as connection:
            row = connection.execute(f"{KNOWN} WHERE path = ?", (path,)).fetchone()
        return None if row is None else known_of(row).relative

    def info(self, path: str) -> NoteInfo | None:
        """One note."""
        with self.database.read() as connection:
            row = connection.execute(f"{INFO} WHERE path = ?", (path,)).fetchone()
        return None if row is None else info_of(self.kiln, row)

    def listed(self, folder: str) -> list[NoteInfo]:
        """The notes under a folder, all for "", by path."""
        with self.database.read() as connection:
            # A range and no pattern, since a folder may have any character in its name; 0 comes right behind /.
            rows = connection.execute(
                f"{INFO} WHERE ?1 = '' OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path", (folder.strip("/"),)
            ).fetchall()
        return [info_of(self.kiln, row) for row in rows]

    def named_like(self, target: str) -> list[str]:
        """The paths of the notes that a link to `target` may mean."""
        with self.database.read() as connection:
            return [path for (path,) in connection.execute("SELECT path FROM notes WHERE key = ?", (link_key(target),))]

    def linking(self, keys: Iterable[str]) -> list[str]:
        """The paths of the notes with links that may mean one of these keys."""
        found: set[str] = set()
        with self.database.read() as connection:
            for key in keys:
                rows = connection.execute("SELECT path FROM links JOIN notes ON id = note WHERE links.key = ?", (key,))
                found.update(path for (path,) in rows)
        return sorted(found)

    def remake(self) -> None:
        """Begin a new index in the place of a damaged one."""
        file = self.database.file
        self.database.close()
        remove(file)
        self.database = Database(file, self._root)
        self.database.made_anew = "it was damaged"

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()
