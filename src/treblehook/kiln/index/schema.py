"""The tables of an index."""

from typing import Final

VERSION: Final = 1
"""An index of another version is made anew."""

APPLICATION: Final = 0x54424B4E
"""Says of a SQLite file that it is an index of notes."""

TABLES: Final = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    file BLOB,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL,
    headings TEXT NOT NULL,
    links TEXT NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL
);
CREATE INDEX notes_key ON notes (key);
CREATE TABLE links (key TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID;
CREATE INDEX links_note ON links (note);
CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (title, tags, headings, front, body, tokenize = 'unicode61 remove_diacritics 2');
"""
"""`file` is the path on disk where it is no UTF-8; `key` is what links and notes meet by; `tags`, `headings` and `links` are JSON.
`changed_ns` is 0 where a later write of the same size might not show. `words` has the rowids of `notes`."""
