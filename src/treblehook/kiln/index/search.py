"""Search by words."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from treblehook.kiln.index.database import Database
from treblehook.kiln.index.query import Term, terms
from treblehook.kiln.index.rows import texts

SNIPPET_WORDS: Final = 24
_LONG: Final = 50_000
"""Characters from which a note's beginning is its snippet: to find the words again in a long one takes as long as the search."""

_WEIGHTS: Final = "10.0, 5.0, 3.0, 1.0, 1.0"
"""What a word counts in the title, tags, headings, front matter and body."""


class Hit(Struct, frozen=True):
    """A note that was found; `snippet` is a part of it with the words, or its beginning."""

    note: int
    path: str
    title: str
    tags: tuple[str, ...]
    snippet: str


_BY_WORDS: Final = f"""
SELECT id, path, notes.title, notes.tags,
    CASE WHEN length(body) < {_LONG} THEN snippet(words, 4, '', '', '…', {SNIPPET_WORDS}) ELSE substr(body, 1, 160) END, rank
FROM words JOIN notes ON notes.id = words.rowid
WHERE words MATCH ? AND rank MATCH 'bm25({_WEIGHTS})' ORDER BY rank LIMIT ?
"""
# Ordered by the rank alone, SQLite makes the snippets of those notes only that it answers.

_COUNT: Final = "SELECT count(*) FROM words WHERE words MATCH ?"
_RAREST: Final = 3
"""Of many words, those that any note is looked for by."""

_BY_NUMBER: Final = """
SELECT notes.id, path, notes.title, notes.tags, substr(body, 1, 160) FROM notes JOIN words ON words.rowid = notes.id WHERE notes.id = ?
"""


def by_words(database: Database, text: str, limit: int) -> list[Hit]:
    """The notes for `text`, best first: those with all words, then those where the last is a beginning, then those with any.

    A word that no note has counts as the beginning of others.
    """
    found: dict[int, Hit] = {}
    wanted = terms(text)
    if not wanted:
        return []
    with database.read() as connection:
        for query in _widening(connection, wanted):
            rows = connection.execute(_BY_WORDS, (query, limit)).fetchall()
            for *row, _ in sorted(rows, key=lambda row: (row[5], row[1])):
                found.setdefault(row[0], _hit(row))
            if len(found) >= limit:
                break
    return list(found.values())[:limit]


def _widening(connection: sqlite3.Connection, wanted: Sequence[Term]) -> Iterator[str]:
    """FTS5 queries, each of which finds more than the one before."""
    counts = [connection.execute(_COUNT, (term.exact,)).fetchone()[0] for term in wanted]
    chosen = [term.exact if count else term.wide for term, count in zip(wanted, counts, strict=True)]
    yield " AND ".join(chosen)
    if counts[-1] and wanted[-1].wide != wanted[-1].exact:
        yield " AND ".join([*chosen[:-1], wanted[-1].wide])
    if len(wanted) > 1:
        # Ranking costs time for every note with a word, so that words which nearly every note has are left out.
        rarest = sorted(range(len(wanted)), key=lambda place: (counts[place] == 0, counts[place]))[:_RAREST]
        yield " OR ".join(chosen[place] for place in sorted(rarest))


def by_number(connection: sqlite3.Connection, number: int) -> Hit | None:
    """One note."""
    row = connection.execute(_BY_NUMBER, (number,)).fetchone()
    return None if row is None else _hit(row)


def _hit(row: Sequence[Any]) -> Hit:
    number, path, title, tags, snippet = row
    return Hit(number, path, title, texts(tags), snippet.strip())
