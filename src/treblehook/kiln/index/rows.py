"""A note as a row of the index, and back."""

import os
import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

from treblehook.host.notes import NoteId, NoteInfo
from treblehook.kiln.files.paths import stem_of
from treblehook.kiln.files.reading import Content
from treblehook.kiln.files.stamp import Stamp
from treblehook.kiln.files.walk import Found
from treblehook.kiln.parsing import ParsedNote, link_key, parse


class Known(Struct, frozen=True):
    """What the index knows of a note's file; `relative` is its path on disk."""

    id: int
    path: str
    relative: str
    digest: bytes
    stamp: Stamp

    def is_as(self, found: Found) -> bool:
        """Whether the file was not written since."""
        return self.stamp == found.stamp


KNOWN = "SELECT id, path, file, digest, size, modified_ns, changed_ns, inode FROM notes"


def known_of(row: tuple[Any, ...]) -> Known:
    """What `KNOWN` selects."""
    number, path, file, digest, *stamp = row
    return Known(number, path, path if file is None else os.fsdecode(file), digest, Stamp(*stamp))


def put(connection: sqlite3.Connection, path: str, relative: str, content: Content, *, forget: int | None) -> ParsedNote:
    """Write a note's rows in the place of those of the note `forget`; answers the parsed note."""
    note = parse(content.text, stem_of(path), canvas=path.lower().endswith(".canvas"))
    if forget is not None:
        clear(connection, forget)
    wiki = dict.fromkeys(link.target for link in note.links if link.kind == "wiki")
    stamp = content.stamp
    row = (
        forget,
        path,
        None if relative == path else os.fsencode(relative),
        link_key(path),
        note.title,
        _json(note.tags),
        _json(note.headings),
        _json(wiki),
        content.digest,
        stamp.size,
        stamp.modified_ns,
        stamp.changed_ns if content.settled else 0,
        stamp.inode,
    )
    number = connection.execute(f"INSERT INTO notes VALUES ({', '.join('?' * len(row))})", row).lastrowid
    keys = {(link_key(link.target), number) for link in note.links}
    if keys:
        connection.executemany("INSERT INTO links VALUES (?, ?)", keys)
    words = (number, note.title, " ".join(note.tags), "\n".join(note.headings), note.front, note.body)
    connection.execute("INSERT INTO words (rowid, title, tags, headings, front, body) VALUES (?, ?, ?, ?, ?, ?)", words)
    return note


def clear(connection: sqlite3.Connection, number: int) -> None:
    """Take out a note."""
    for statement in (
        "DELETE FROM words WHERE rowid = ?",
        "DELETE FROM vectors WHERE note = ?",
        "DELETE FROM links WHERE note = ?",
        "DELETE FROM notes WHERE id = ?",
    ):
        connection.execute(statement, (number,))


INFO = "SELECT path, title, tags, links, modified_ns FROM notes"


def info_of(kiln: str, row: tuple[Any, ...]) -> NoteInfo:
    """What `INFO` selects."""
    path, title, tags, links, modified_ns = row
    return NoteInfo(NoteId(kiln, path), title, texts(tags), texts(links), modified_ns / 1e9)


def texts(column: str) -> tuple[str, ...]:
    """A column of texts."""
    return msgspec.json.decode(column, type=tuple[str, ...])


def _json(values: Any) -> str:
    return msgspec.json.encode(list(values)).decode()
