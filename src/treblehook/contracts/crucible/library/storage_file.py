"""What plugins store: one SQLite file for all of them, a table of (plugin, key, value)."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from treblehook.host.private import make_private_folder

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
BUSY_SECONDS: Final = 10.0
"""How long a call waits for another process that writes at the moment."""
_PAUSE_SECONDS: Final = 0.005
_TABLE: Final = "CREATE TABLE IF NOT EXISTS stored (plugin TEXT, key TEXT, value BLOB NOT NULL, PRIMARY KEY (plugin, key)) WITHOUT ROWID"


class StorageFailed(Exception):
    """The file cannot be read or written; the message names it and says why."""


class StorageFile:
    """The stored values of every plugin of a home, as MessagePack: unlike JSON it keeps a string that is no UTF-8.

    Nothing is opened before the first call. Every method may be called from any thread and by several processes at once, and
    raises `StorageFailed`. What a method has returned from survives the end of the process, however it ends; a cut of power
    may take the last moments.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def put(self, plugin: str, key: str, value: object) -> None:
        packed = msgspec.msgpack.encode(value)
        statement = "INSERT INTO stored VALUES (?, ?, ?) ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value"
        self._do(lambda connection: connection.execute(statement, (plugin, key, packed)))

    def value(self, plugin: str, key: str) -> object:
        """The value, None where there is none."""
        query = "SELECT value FROM stored WHERE plugin = ? AND key = ?"
        row = self._do(lambda connection: connection.execute(query, (plugin, key)).fetchone())
        return None if row is None else msgspec.msgpack.decode(row[0])

    def keys(self, plugin: str, prefix: str) -> list[str]:
        """The keys that begin with `prefix`, sorted."""
        query = "SELECT key FROM stored WHERE plugin = ? AND substr(key, 1, ?) = ? ORDER BY key"
        rows = self._do(lambda connection: connection.execute(query, (plugin, len(prefix), prefix)).fetchall())
        return [key for (key,) in rows]

    def values(self, plugin: str, wanted: Callable[[str], bool]) -> Mapping[str, object]:
        """The values of the keys that are wanted."""
        query = "SELECT key, value FROM stored WHERE plugin = ? ORDER BY key"
        rows = self._do(lambda connection: [row for row in connection.execute(query, (plugin,)) if wanted(row[0])])
        return {key: msgspec.msgpack.decode(packed) for key, packed in rows}

    def remove(self, plugin: str, key: str) -> bool:
        """Whether there was one."""
        query = "DELETE FROM stored WHERE plugin = ? AND key = ?"
        return self._do(lambda connection: connection.execute(query, (plugin, key)).rowcount) > 0

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _do(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        import sqlite3

        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                return work(self._connection)
            except (OSError, sqlite3.Error) as error:
                raise StorageFailed(f"{self._file}: {error}") from error

    def _open(self) -> "sqlite3.Connection":
        import sqlite3

        make_private_folder(self._file.parent)
        # The mode of a new file: what plugins store is often a token.
        os.close(os.open(self._file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        # Every statement is a transaction of its own. The lock makes the connection safe to share between threads.
        connection = sqlite3.connect(self._file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _use_write_ahead_log(connection: "sqlite3.Connection") -> None:
    """Readers then do not wait for a writer. For this statement alone SQLite does not wait itself where others open the new file too."""
    import sqlite3

    patience_ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > patience_ends:
                raise
            time.sleep(_PAUSE_SECONDS)
