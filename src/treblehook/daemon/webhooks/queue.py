"""`<home>/webhooks.sqlite3`: deliveries that were accepted and have not been handled, and the tags that were seen."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from treblehook.daemon.webhooks.replays import MOST, Seen
from treblehook.host.problems import ConfigInvalid, Problem

FILE: Final = "webhooks.sqlite3"

_LINGER_SECONDS: Final = 0.02
"""How long a removal waits for company. A delivery that was handled just before a kill is handled again."""

_RETRY_SECONDS: Final = 1.0
_AT_ONCE: Final = 1000
_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS deliveries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL
    );
    CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY AUTOINCREMENT, tag BLOB NOT NULL, until REAL NOT NULL);
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
    stored: "asyncio.Future[Delivery]"


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
        self._removing: list[int] = []
        self._writing: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self.fault = ""
        """why the last write failed, "" where it did not"""
        try:
            self._database = _opened(self._file)
        except (sqlite3.Error, OSError) as error:
            remedy = "free the disk, or move the file away: deliveries in it that were not handled are lost with it"
            raise ConfigInvalid([Problem(str(self._file), "", f"the queue cannot be opened: {error}", remedy)]) from error

    @property
    def newest(self) -> int:
        """The id of the newest delivery that has not been handled, 0 where there is none. To be asked before the first `add`."""
        found: int = self._database.execute("SELECT coalesce(max(id), 0) FROM deliveries").fetchone()[0]
        return found

    @property
    def waiting(self) -> int:
        """How many deliveries have not been handled. To be asked before the first `add`."""
        found: int = self._database.execute("SELECT count(*) FROM deliveries").fetchone()[0]
        return found

    def seen(self, now: float) -> list[Seen]:
        """The tags that are still to be remembered, the oldest first. To be asked before the first `add`."""
        rows = self._database.execute("SELECT tag, until FROM seen WHERE until >= ? ORDER BY id", (now,))
        return [Seen(tag, until) for tag, until in rows]

    async def add(self, delivery: Delivery, seen: Seen) -> None:
        """Write down a delivery and its tag. Raises `NotStored`."""
        adding = _Adding(delivery, seen, asyncio.get_running_loop().create_future())
        self._adding.append(adding)
        self._write_soon()
        await adding.stored

    def remove(self, delivery: int) -> None:
        """A delivery has been handled."""
        self._removing.append(delivery)
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
            while self._adding or self._removing:
                adding, self._adding = self._adding[:_AT_ONCE], self._adding[_AT_ONCE:]
                removing, self._removing = self._removing, []
                results, removed = await loop.run_in_executor(self._thread, self._commit, adding, removing)
                for one, result in zip(adding, results, strict=True):
                    self._settle(one, result)
                if not removed:
                    self._removing = removing + self._removing
                    if not self._adding:
                        self._lingering = loop.call_later(_RETRY_SECONDS, self._write_soon)
                        return
        finally:
            self._writing = None

    def _settle(self, one: _Adding, result: int | sqlite3.Error) -> None:
        if isinstance(result, int):
            self._on_stored(msgspec.structs.replace(one.delivery, id=result))
            if not one.stored.done():
                one.stored.set_result(one.delivery)
        elif not one.stored.done():
            one.stored.set_exception(NotStored(str(result)))

    # On the thread

    def _commit(self, adding: Sequence[_Adding], removing: Sequence[int]) -> tuple[list[int | sqlite3.Error], bool]:
        """The id of each, or why it was not stored; and whether what was to be removed has been.

        Where all together cannot be written, each is tried by itself.
        """
        try:
            ids = self._transaction(adding, removing)
        except sqlite3.Error as error:
            self.fault = str(error)
            alone: list[int | sqlite3.Error] = [error]
            return [self._commit((one,), ())[0][0] for one in adding] if len(adding) > 1 else alone * len(adding), not removing
        self.fault = ""
        return list(ids), True

    def _transaction(self, adding: Sequence[_Adding], removing: Sequence[int]) -> list[int]:
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            ids = [self._insert(one) for one in adding]
            if adding:
                self._database.execute("DELETE FROM seen WHERE id <= (SELECT max(id) FROM seen) - ?", (MOST,))
            self._database.executemany("DELETE FROM deliveries WHERE id = ?", [(one,) for one in removing])
        return ids

    def _insert(self, one: _Adding) -> int:
        delivery, seen = one.delivery, one.seen
        row = (delivery.name, msgspec.json.encode(delivery.headers).decode(), delivery.body)
        added = self._database.execute("INSERT INTO deliveries (name, headers, body) VALUES (?, ?, ?)", row).lastrowid
        self._database.execute("INSERT INTO seen (tag, until) VALUES (?, ?)", (seen.tag, seen.until))
        assert added is not None
        return added

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
        self._database.execute("PRAGMA incremental_vacuum").fetchall()
        self._database.close()


def _opened(file: Path) -> sqlite3.Connection:
    # SQLite gives its side files the mode of this one, which is private before anything is in it.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=5)
    try:
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.executescript(_SCHEMA)
    except sqlite3.Error:
        database.close()
        raise
    return database
