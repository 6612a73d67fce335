"""The file of an index: opened, checked, made anew where it is of no use."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from treblehook.host.private import make_private_folder
from treblehook.kiln.index.errors import IndexDamaged, IndexFailed, index_errors
from treblehook.kiln.index.schema import APPLICATION, TABLES, VERSION

_PATIENCE_SECONDS: Final = 30.0
"""How long one process waits for another that writes. A batch takes well under one."""


_LOG_PAGES: Final = 8_000
_LOG_BYTES: Final = 4_000_000


class Database:
    """Two connections to the file at `file`, one that writes and one that reads; each is used by one thread at a time.

    `made_anew` says why an index that was there has been thrown away, "" where none was. Raises `IndexFailed`.
    """

    def __init__(self, file: Path, about: str) -> None:
        """`about` is what is indexed: an index of something else is thrown away."""
        self.file = file
        self.made_anew = ""
        self._writing = threading.RLock()
        self._reading = threading.Lock()
        try:
            make_private_folder(file.parent)
            self._writer = self._opened(about)
        except OSError as error:
            raise IndexFailed(file, error) from error
        with index_errors(file):
            self._reader = _connect(file)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that keeps out every other writer, of other processes too. Raises `IndexFailed`: nothing was written then."""
        with self._writing, index_errors(self.file):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # SQLite may have rolled back by itself, on a full disk for one.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A view of what is committed. Raises `IndexFailed`."""
        with self._reading, index_errors(self.file):
            yield self._reader

    def close(self) -> None:
        """Let go of the file."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    def _opened(self, about: str) -> sqlite3.Connection:
        try:
            with index_errors(self.file):
                return self._checked(about)
        except IndexDamaged as damaged:
            self.made_anew = f"it was damaged ({damaged.__cause__})"
        remove(self.file)
        with index_errors(self.file):
            return self._checked(about)

    def _checked(self, about: str) -> sqlite3.Connection:
        # SQLite gives its side files the mode of this one.
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = _connect(self.file)
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._make_tables(connection, about)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_tables(self, connection: sqlite3.Connection, about: str) -> None:
        """Whoever comes first makes them; other processes wait for that."""
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        if tables:
            reason = _unusable(connection, about)
            if not reason:
                return
            self.made_anew = reason
            _drop_all(connection)
        for statement in TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("INSERT INTO facts VALUES ('about', ?)", (about,))


def remove(file: Path) -> None:
    """Remove an index with its side files."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(f"{file}{suffix}")


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    # Bringing the log into the file waits for the disk; in a full pass that would be after every few steps.
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    return connection


def _unusable(connection: sqlite3.Connection, about: str) -> str:
    [(application,)] = connection.execute("PRAGMA application_id")
    [(version,)] = connection.execute("PRAGMA user_version")
    if application != APPLICATION:
        return "it was no index of notes"
    if version != VERSION:
        return f"it was of version {version}, and this is version {VERSION}"
    with closing(connection.execute("SELECT value FROM facts WHERE name = 'about'")) as rows:
        (known,) = rows.fetchone() or ("",)
    return "" if known == about else f"it was the index of {known}"


def _drop_all(connection: sqlite3.Connection) -> None:
    """By the tables' names and not by the file, which other processes may have open."""
    for kind, name in list(connection.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")):
        if kind == "table":
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
