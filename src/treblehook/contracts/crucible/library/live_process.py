"""A process whose lines are handed on as they come, and whose input stays open."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from treblehook.runtimes.process.child import spawn
from treblehook.runtimes.process.exit import exited
from treblehook.runtimes.process.reaper import Reaper
from treblehook.runtimes.process.values import Stream

OnLine = Callable[[Stream, bytes], Awaitable[None]]
GRACE_SECONDS: Final = 0.5
"""From SIGTERM to SIGKILL."""
LINGER_SECONDS: Final = 1.0
"""How long, after the process has exited, a descendant that holds an output may be silent before it is left alone."""
LINE_BYTES: Final = 65_536
"""A longer line is handed on in pieces of this length."""


class InputClosed(Exception):
    """The process does not read its input any more, or it was closed."""


class LiveProcess:
    """A started process in a group of its own. Whoever makes one awaits `run`; raises `NotStarted`.

    `run` hands on lines in the order of each output, one at a time: a slow listener makes the process wait. It returns the exit
    status (negative for a signal, None where somebody else took it), and when it is cancelled it ends the group: SIGTERM now,
    SIGKILL after a grace.
    """

    def __init__(self, argv: Sequence[str], cwd: str | None, env: Mapping[str, str], reaper: Reaper) -> None:
        self._child = spawn(argv, None, cwd, env)
        self._reaper = reaper
        self._stdin: int | None = self._child.stdin
        self._writing = asyncio.Lock()
        self._room: asyncio.Future[None] | None = None
        self._chunks = 0
        self._busy = 0
        self._closed = False
        self.pid = self._child.pid

    async def run(self, on_line: OnLine) -> int | None:
        outputs: tuple[tuple[Stream, int], ...] = (("stdout", self._child.stdout), ("stderr", self._child.stderr))
        pumps = [asyncio.ensure_future(self._pump(stream, descriptor, on_line)) for stream, descriptor in outputs]
        try:
            await self._read_out(asyncio.ensure_future(exited(self._child)), pumps)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self.close()
        return self._child.status

    def close(self) -> None:
        """End the group, unless the process has exited. Needed only where `run` was never entered; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        self.close_input()
        if self._child.collected:
            self._release()
        else:
            self._reaper.end(self._child, GRACE_SECONDS, self._release)

    async def write(self, data: bytes) -> None:
        """Write to the input, and wait until the process has taken it or the pipe holds it. Raises `InputClosed`."""
        async with self._writing:
            rest = memoryview(data)
            while rest:
                if self._stdin is None:
                    raise InputClosed
                try:
                    rest = rest[os.write(self._stdin, rest) :]
                except BlockingIOError:
                    await self._until_room(self._stdin)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_input()

    def close_input(self) -> None:
        """The process reads the end of its input; closing twice is fine."""
        if self._stdin is None:
            return
        if self._room is not None and not self._room.done():
            asyncio.get_running_loop().remove_writer(self._stdin)
            self._room.set_result(None)
        os.close(self._stdin)
        self._stdin = None

    async def _read_out(self, exit_: asyncio.Future[None], pumps: "Sequence[asyncio.Future[None]]") -> None:
        """Until the process has exited and its outputs are read, or are held by somebody who says nothing."""
        pending: set[asyncio.Future[None]] = {exit_, *pumps}
        try:
            while pending:
                chunks = self._chunks
                patience = LINGER_SECONDS if exit_.done() else None
                done, pending = await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                for finished in done:
                    # A listener's error ends the process: nobody hears it any more.
                    finished.result()
                if not (done or self._busy or self._chunks != chunks):
                    return
        finally:
            exit_.cancel()

    async def _pump(self, stream: Stream, descriptor: int, on_line: OnLine) -> None:
        rest = b""
        while chunk := await _read(descriptor):
            self._chunks += 1
            *lines, rest = (rest + chunk).split(b"\n")
            while len(rest) >= LINE_BYTES:
                lines.append(rest[:LINE_BYTES])
                rest = rest[LINE_BYTES:]
            await self._tell(stream, lines, on_line)
        await self._tell(stream, [rest] if rest else [], on_line)

    async def _tell(self, stream: Stream, lines: Sequence[bytes], on_line: OnLine) -> None:
        self._busy += 1
        try:
            for line in lines:
                await on_line(stream, line)
        finally:
            self._busy -= 1

    async def _until_room(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        self._room = loop.create_future()
        loop.add_writer(descriptor, _wake, self._room)
        try:
            await self._room
        finally:
            # Closed meanwhile, the number may belong to somebody else.
            if self._stdin is not None:
                loop.remove_writer(descriptor)

    def _release(self) -> None:
        os.close(self._child.stdout)
        os.close(self._child.stderr)


async def _read(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    while True:
        try:
            return os.read(descriptor, LINE_BYTES)
        except BlockingIOError:
            pass
        readable: asyncio.Future[None] = loop.create_future()
        loop.add_reader(descriptor, _wake, readable)
        try:
            await readable
        finally:
            loop.remove_reader(descriptor)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
