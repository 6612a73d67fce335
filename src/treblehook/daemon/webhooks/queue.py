"""`<home>/webhooks.sqlite3`: deliveries that were accepted and have not been handled, and the tags that were seen."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from treblehook.daemon.webhooks.replays import MOST, Seen
from treblehook.host.problems import ConfigInvalid, Problem

FILE: Final = "webhooks.sqlite3"

Row = TypeVar("Row")

_LINGER_SECONDS: Final = 0.02
"""How long a removal waits for company. A delivery that was handled just before a kill is handled again."""

_RETRY_SECONDS: Final = 1.0
_AT_ONCE: Final = 1024
_FREE_BYTES: Final = 64 * 1024 * 1024
"""A file with more room than that in it is made small when it is opened."""

_SEEN_EVERY: Final = 1024
"""After so many tags those that are too many are removed."""

_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS deliveries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, tag BLOB NOT NULL, until REAL NOT NULL);
"""


class Delivery(Struct, frozen=True):
    """A verified delivery. `id` is its place in the queue, 0 until it has one."""

    name: str
    headers: dict[str, str]
    body: bytes
    id: int = 0


class NotStored(Exception):
    """A delivery could not be written down; the message says why."""


class _Adding(Struct):
    delivery: Delivery
    seen: Seen
    stored: "asyncio.Future[None]"


class DeliveryQueue:
    """The queue on disk. A delivery that `add` has answered survives a kill and a power cut, and is there until `remove`.

    Those that wait are written together in one transaction, by a thread of its own. `on_stored` is called with each on the loop,
    in the order of their ids. Opening raises `ConfigInvalid` for a file that is no such queue.
    """

    def __init__(self, home: Path, on_stored: Callable[[Delivery], None]) -> None:
        self._file = home / FILE
        self._on_stored = on_stored
        self._thread = ThreadPoolExecutor(1, "webhooks")
        self._adding: list[_Adding] = []
        self._handled = 0
        self._removed = 0
        self._writing: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self.fault = ""
        """why the last write failed, "" where it did not"""
        try:
            self._database = _opened(self._file)
            self._identity = _identity(self._file)
            self.left: tuple[int, int] = self._database.execute("SELECT count(*), coalesce(max(id), 0) FROM deliveries").fetchone()
            """how many deliveries an earlier run has left, and the id of the newest of them, 0 without any"""
            self._next_seen: int = self._database.execute("SELECT coalesce(max(id), 0) + 1 FROM seen").fetchone()[0]
        except (sqlite3.Error, OSError) as error:
            remedy = "free the disk, or move the file away: deliveries in it that were not handled are lost with it"
            raise ConfigInvalid([Problem(str(self._file), "", f"the queue cannot be opened: {error}", remedy)]) from error
        self._next = self.left[1] + 1

    def seen(self, now: float) -> list[Seen]:
        """The tags that are still to be remembered, the oldest first. To be asked before the first `add`."""
        rows = self._database.execute("SELECT tag, until FROM seen WHERE until >= ? ORDER BY id DESC LIMIT ?", (now, MOST)).fetchall()
        return [Seen(tag, until) for tag, until in reversed(rows)]

    async def add(self, delivery: Delivery, seen: Seen) -> None:
        """Write down a delivery and its tag. Raises `NotStored`."""
        adding = _Adding(delivery, seen, asyncio.get_running_loop().create_future())
        self._adding.append(adding)
        self._write_soon()
        await adding.stored

    def remove(self, delivery: int) -> None:
        """The delivery with this id, and every one before it, has been handled."""
        self._handled = delivery
        if self._writing is None and self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._write_soon)

    async def read(self, after: int, most_bytes: int) -> list[Delivery]:
        """The deliveries that follow the one with the id `after`: one, and more as long as their bodies fit. Raises `NotStored`."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, after, most_bytes)
        except sqlite3.Error as error:
            raise NotStored(str(error)) from error

    async def close(self) -> None:
        """Write what is to be written and let go of the file."""
        self._write_soon()
        while self._writing is not None:
            await asyncio.wait({self._writing})
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _write_soon(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        """Write until nothing waits; while one transaction is on its way to the disk, the next one gathers."""
        loop = asyncio.get_running_loop()
        try:
            while self._adding or self._handled > self._removed:
                adding, self._adding = self._adding[:_AT_ONCE], self._adding[_AT_ONCE:]
                stored, error = await loop.run_in_executor(self._thread, self._commit, adding, self._handled)
                self._settle(adding, stored, error)
                if error is not None and not self._adding:
                    self._lingering = loop.call_later(_RETRY_SECONDS, self._write_soon)
                    return
        finally:
            self._writing = None

    def _settle(self, adding: Sequence[_Adding], ids: Sequence[int], error: sqlite3.Error | None) -> None:
        """Tell of each what became of it; the id 0 is none."""
        self.fault = "" if error is None else str(error)
        for one, id in zip(adding, ids, strict=True):
            if id:
                self._on_stored(msgspec.structs.replace(one.delivery, id=id))
            if not one.stored.done():
                one.stored.set_result(None) if id else one.stored.set_exception(NotStored(self.fault))

    # On the thread

    def _commit(self, adding: Sequence[_Adding], handled: int) -> tuple[list[int], sqlite3.Error | None]:
        """The id of each, 0 where it was not stored, and what went wrong. Where all together cannot be written, each is tried alone."""
        try:
            with self._database:
                ids = self._transaction(adding, handled)
        except sqlite3.Error as error:
            if len(adding) <= 1:
                return [0] * len(adding), error
            alone = [self._commit((one,), handled) for one in adding]
            return [ids[0] for ids, _ in alone], error
        self._next += len(adding)
        self._next_seen += len(adding)
        self._removed = handled
        return ids, None

    def _transaction(self, adding: Sequence[_Adding], handled: int) -> list[int]:
        """Every statement lets the event loop's thread go on and has to wait for it again, so each is for many rows."""
        database = self._database
        if _identity(self._file) != self._identity:
            # SQLite would go on writing to a file that no later start finds.
            raise sqlite3.OperationalError(f"{self._file} has been taken away; start the daemon again")
        database.execute("BEGIN IMMEDIATE")
        ids = list(range(self._next, self._next + len(adding)))
        tags = range(self._next_seen, self._next_seen + len(adding))
        for rows in _chunks(list(zip(ids, tags, adding, strict=True))):
            delivered = [
                (id, one.delivery.name, msgspec.json.encode(one.delivery.headers).decode(), one.delivery.body) for id, _, one in rows
            ]
            database.execute(f"INSERT INTO deliveries VALUES {_places(4, len(rows))}", [value for row in delivered for value in row])
            seen = [(tag, one.seen.tag, one.seen.until) for _, tag, one in rows]
            database.execute(f"INSERT INTO seen VALUES {_places(3, len(rows))}", [value for row in seen for value in row])
        if any(tag % _SEEN_EVERY == 0 for tag in tags):
            database.execute("DELETE FROM seen WHERE id < ?", (tags.stop - MOST,))
        if handled > self._removed:
            database.execute("DELETE FROM deliveries WHERE id <= ?", (handled,))
        return ids

    def _read(self, after: int, most_bytes: int) -> list[Delivery]:
        found: list[Delivery] = []
        rows = self._database.execute("SELECT id, name, headers, body FROM deliveries WHERE id > ? ORDER BY id LIMIT ?", (after, _AT_ONCE))
        for id, name, headers, body in rows:
            most_bytes -= len(body)
            if found and most_bytes < 0:
                break
            found.append(Delivery(name, msgspec.json.decode(headers, type=dict[str, str]), body, id))
        return found

    def _close(self) -> None:
        self._database.close()


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _opened(file: Path) -> sqlite3.Connection:
    # SQLite gives its side files the mode of this one, which is private before anything is in it.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=5)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.executescript(_SCHEMA)
        free = database.execute("PRAGMA freelist_count").fetchone()[0] * database.execute("PRAGMA page_size").fetchone()[0]
        if free > _FREE_BYTES:
            database.execute("VACUUM")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _chunks(rows: list[Row]) -> Iterator[list[Row]]:
    """Parts whose sizes are powers of two: few different statements, which are compiled once."""
    at = 0
    while at < len(rows):
        size = 1 << (len(rows) - at).bit_length() - 1
        yield rows[at : at + size]
        at += size


def _places(columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return ", ".join([row] * rows)
