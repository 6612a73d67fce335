"""One connection to an MCP server, from its start to its end."""

import asyncio
from collections.abc import Callable

import anyio
from mcp import Client
from mcp.client import IncomingMessage
from mcp.types import Tool
from msgspec import Struct

from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.mcp.connect import connected, every_tool
from treblehook.host.mcp.last_words import LastWords

CLOSE_SECONDS = 10.0
"""The library gives a process about seven seconds from the end of its input to SIGKILL; a server on the net may hang longer."""


class ServerFailed(Exception):
    """The server is not there; the message is one clause that says why."""


class Open(Struct, frozen=True):
    """What a connection that is open offers."""

    client: Client
    tools: list[Tool]


class Connection:
    """Lives in a task of its own, because what the library opens must be closed by the task that opened it.

    `on_garbage` is called for everything from the server that is no MCP message.
    """

    def __init__(self, config: McpServerConfig, on_garbage: Callable[[], None]) -> None:
        self._config = config
        self._on_garbage = on_garbage
        self._leave = asyncio.Event()
        # The library shields the end of its process from this scope, not from Task.cancel.
        self._scope = anyio.CancelScope()
        self._last_words = LastWords()
        self._opened: asyncio.Future[Open | ServerFailed] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live())

    async def opened(self, seconds: float) -> Open:
        """Wait until the server is ready, at most `seconds`. Raises ServerFailed."""
        await asyncio.wait({self._opened}, timeout=seconds)
        if not self._opened.done():
            self._scope.cancel()
            raise ServerFailed(self.with_last_words(f"not ready after {seconds:g} s"))
        outcome = self._opened.result()
        if isinstance(outcome, ServerFailed):
            raise outcome
        return outcome

    def leave(self) -> None:
        """Begin to end the connection and, if there is one, the process."""
        self._leave.set()
        if not self._opened.done():
            self._scope.cancel()

    def ended(self) -> bool:
        """Whether nothing of the connection is left."""
        return self._task.done()

    def with_last_words(self, why: str) -> str:
        """`why` and, if there is one, the last line that the process wrote to standard error."""
        said = self._last_words.text()
        return f"{why}; its last words: {said}" if said else why

    async def close(self) -> None:
        """End the connection; within about twice ten seconds, whatever the server does."""
        self.leave()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def _live(self) -> None:
        failure = ServerFailed("stopped while it was starting")
        try:
            with self._scope:
                async with connected(self._config, self._last_words, self._on_message) as client:
                    self._opened.set_result(Open(client, await every_tool(client)))
                    await self._leave.wait()
        except Exception as error:
            # A failure of an open connection shows in its calls.
            failure = ServerFailed(self.with_last_words(_reason(error)))
        finally:
            self._last_words.close()
            if not self._opened.done():
                self._opened.set_result(failure)

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, Exception):
            self._on_garbage()


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError):
        return error.strerror or str(error)
    # What the library says of a message that is none goes over many lines.
    return str(error).partition("\n")[0] or type(error).__name__
