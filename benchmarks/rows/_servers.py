"""A server as a process of its own, and connections that ask it one thing after the other, as cheaply as Python can."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from time import perf_counter
from typing import cast


class Sender(asyncio.Protocol):
    """One connection: sends the next request when the one before has been answered, with an object in JSON."""

    def __init__(self, left: Iterator[bytes]) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._left = left
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        if self._answer.rstrip(b"\n").endswith(b"}"):
            assert self._answer.startswith(b"HTTP/1.1 200 "), self._answer
            self._send()

    def _send(self) -> None:
        self._answer = b""
        request = next(self._left, None)
        if request is not None:
            self._transport.write(request)
        elif not self.done.done():
            self._transport.close()
            self.done.set_result(None)


async def seconds(port: int, connections: int, requests: list[bytes]) -> float:
    """How long the server takes for them all."""
    loop, left = asyncio.get_running_loop(), iter(requests)
    began = perf_counter()
    made = [await loop.create_connection(lambda: Sender(left), "127.0.0.1", port) for _ in range(connections)]
    await asyncio.gather(*(sender.done for _, sender in made))
    return perf_counter() - began


async def start(*command: str) -> tuple[Process, int]:
    """A server, and the port that its first line ends with."""
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE, env=os.environ)
    assert process.stdout is not None
    found = re.search(rb":(\d+)\D*$", await process.stdout.readline())
    assert found is not None, "the server says where it listens"
    return process, int(found[1])
