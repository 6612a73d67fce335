"""What a session tells those who watch it: its newest records from memory, every older one from its file."""

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from treblehook.agent.listener import Listener
from treblehook.agent.records import Record
from treblehook.daemon.sessions.position import START, Position
from treblehook.daemon.sessions.stored import frame, read_frames
from treblehook.engine import Call

MEMORY_BYTES: Final = 256 * 1024
"""So much of the newest records is kept for those who come back; per session."""


class Feed(Listener):
    """The records of one session as server-sent events, for any number of readers, none of which is ever waited for.

    A reader that is behind reads the file (where what later hooks changed is left out), so its lag costs no memory. Records of
    subagents are told as they happen; later they stand in streams of their own. `on_calls` is told of each call of a hook.
    """

    def __init__(self, folder: Path, on_calls: Callable[[Sequence[Call]], None], memory_bytes: int = MEMORY_BYTES) -> None:
        self.closed: str | None = None
        """why nothing will follow, or None"""
        self._folder = folder
        self._on_calls = on_calls
        self._memory = memory_bytes
        self._session = ""
        self._frames: deque[tuple[Position, bytes]] = deque()
        self._size = 0
        self._last = START
        self._floor = START
        self._news = asyncio.Event()

    def belong_to(self, session: str) -> "Feed":
        """Whose it is, where that is known before the first record; what the file holds is told from there."""
        self._session = session
        self.forget()
        return self

    def record(self, record: Record) -> None:
        """Tell a record."""
        if not self._session:
            self._session = record["session"]
        offset = self._length()
        self._last = Position(offset) if offset > self._last.offset else Position(self._last.offset, self._last.more + 1)
        told = frame(self._last, record["type"], record)
        self._frames.append((self._last, told))
        self._size += len(told)
        while self._size > self._memory:
            self._floor, oldest = self._frames.popleft()
            self._size -= len(oldest)
        self._wake()

    def answered(self, session: str, call: Call) -> None:
        """Count a call."""
        self._on_calls((call,))

    def forget(self) -> None:
        """Keep nothing in memory: the file has it all."""
        self._frames.clear()
        self._size = 0
        self._floor = self._last = max(self._last, Position(self._length()))

    def open(self) -> None:
        """More will follow, also where it was closed before."""
        self.closed = None

    def close(self, why: str) -> None:
        """Nothing will follow."""
        self.closed = why
        self._wake()

    def holds(self, position: Position) -> bool:
        """Whether an event can have had this position: a record of the file ends there."""
        if position.offset in (0, self._last.offset):
            return True
        try:
            with self._file.open("rb") as reading:
                reading.seek(position.offset - 1)
                return reading.read(1) == b"\n" and position.offset < self._last.offset
        except OSError:
            # Without the file there is nothing to go on after.
            return False

    async def after(self, position: Position) -> tuple[list[bytes], Position]:
        """Some of the events that follow `position`, and the position of the last one. Raises `OSError`."""
        if position < self._floor:
            return await self._from_file(position)
        first = bisect_right(self._frames, position, key=lambda entry: entry[0])
        found = [told for place, told in list(self._frames)[first:]]
        return found, self._last if found else position

    async def _from_file(self, position: Position) -> tuple[list[bytes], Position]:
        floor = self._floor
        if position.offset >= floor.offset:
            return [], floor
        frames, at = await asyncio.to_thread(read_frames, self._file, position.offset, floor.offset)
        return [told for _, told in frames], Position(at) if position.offset < at < floor.offset else floor

    def news(self) -> asyncio.Event:
        """Set once there is something new; to be taken before `after` is asked."""
        return self._news

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    @property
    def _file(self) -> Path:
        return self._folder / f"{self._session}.jsonl"

    def _length(self) -> int:
        try:
            return self._file.stat().st_size
        except OSError:
            # It has been moved to the trash meanwhile.
            return self._last.offset
