"""An HTTP server that answers with the bytes that a test gives it, when the test gives them."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self


class Exchange:
    """One request, read whole, and the connection on which it is answered."""

    def __init__(self, head: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = head
        self.body = body
        self._reader = reader
        self._writer = writer

    async def send(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def start_stream(self, *, length: int | None = None) -> None:
        """The head of a stream that ends with the connection, or that promises `length` bytes."""
        promise = "" if length is None else f"content-length: {length}\r\n"
        await self.send(f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{promise}connection: close\r\n\r\n".encode())

    async def answer(self, status: int, content: bytes, *headers: str) -> None:
        """A whole answer in JSON."""
        lines = [f"HTTP/1.1 {status} Status", "content-type: application/json", f"content-length: {len(content)}", *headers]
        await self.send("\r\n".join([*lines, "connection: close", "", ""]).encode() + content)

    async def hung_up(self) -> None:
        """Wait until the client has closed the connection."""
        while await self._reader.read(1024):
            pass


class RawServer:
    """Listens on a free port while it is entered; `answer` handles each request, and its end closes the connection."""

    def __init__(self, answer: Callable[[Exchange], Awaitable[None]]) -> None:
        self.url = ""
        self.requests = 0
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lengths = [line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length:")]
            body = await reader.readexactly(int(lengths[0])) if lengths else b""
            self.requests += 1
            await self._answer(Exchange(head, body, reader, writer))
        except asyncio.IncompleteReadError:
            # A client that connected and asked nothing.
            return
        finally:
            writer.close()
