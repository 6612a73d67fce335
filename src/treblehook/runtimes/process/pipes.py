"""Our ends of a child's pipes: feeding its stdin and collecting an output, both without ever blocking the loop."""

import asyncio
import os
from collections.abc import Callable

from treblehook.runtimes.process.values import Stream

CHUNK = 65_536


class Feed:
    """Writes `payload` to a child's stdin as fast as the child reads, then closes it."""

    def __init__(self, descriptor: int, payload: bytes) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = descriptor
        self._rest = memoryview(payload)
        self._waiting = False

    def start(self) -> None:
        self._write()

    def close(self) -> None:
        """Stop feeding; closing twice is fine."""
        if self._descriptor is None:
            return
        if self._waiting:
            self._loop.remove_writer(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None

    def _write(self) -> None:
        if self._descriptor is None:
            return
        try:
            written = os.write(self._descriptor, self._rest) if self._rest else 0
        except BlockingIOError:
            written = 0
        except (BrokenPipeError, ConnectionResetError):
            # The child does not want (all of) its input. What it says and its exit status decide, not this (vera.md 6).
            self.close()
            return
        self._rest = self._rest[written:]
        if not self._rest:
            self.close()
        elif not self._waiting:
            self._waiting = True
            self._loop.add_writer(self._descriptor, self._write)


class Intake:
    """Reads one output of a child to its end and keeps the first `limit` bytes of it.

    `on_chunk` gets every chunk, the kept and the dropped; `cut` is already true when the chunk went over the limit.
    `on_closed` is called once, when nobody holds the other end any more; never after `close`.
    """

    def __init__(
        self,
        stream: Stream,
        descriptor: int,
        limit: int,
        on_chunk: Callable[["Intake", bytes], None],
        on_closed: Callable[[], None],
    ) -> None:
        self.stream = stream
        self.cut = False
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = descriptor
        self._room = limit
        self._kept: list[bytes] = []
        self._on_chunk = on_chunk
        self._on_closed = on_closed

    def start(self) -> None:
        if self._descriptor is not None:
            self._loop.add_reader(self._descriptor, self._read)

    def pause(self) -> None:
        """Stop reading, and leave the pipe open."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)

    def close(self) -> None:
        """Stop reading; closing twice is fine."""
        if self._descriptor is None:
            return
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None

    def kept(self) -> bytes:
        return b"".join(self._kept)

    def _read(self) -> None:
        if self._descriptor is None:
            return
        try:
            chunk = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self.close()
            self._on_closed()
            return
        if self._room:
            self._kept.append(chunk[: self._room])
        self.cut = self.cut or len(chunk) > self._room
        self._room = max(0, self._room - len(chunk))
        self._on_chunk(self, chunk)
