"""One MCP server as its tools see it: always there to be called, whatever happens to its connection."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, CallToolRequest, CallToolRequestParams, CallToolResult, Tool

from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.mcp.connection import Connection, Open, ServerFailed
from treblehook.host.mcp.content import as_output
from treblehook.host.tool import ToolInputInvalid, ToolOutput

CALL_SECONDS = 600.0
RESTARTS = 1


class McpServer:
    """A process that died is started again, once; a `url` is connected to again whenever there is a call for it.

    A call that finds its server dead is not repeated, for it may have been carried out.
    `report` is told, in a clause, what is wrong with the server.
    """

    def __init__(self, config: McpServerConfig, report: Callable[[str], None], start_seconds: float) -> None:
        self._config = config
        self._report = report
        self._start_seconds = start_seconds
        self._restarts = 0
        self._garbage = False
        self._closed = False
        self._connections: list[Connection] = []
        self._opening = self._connect()

    async def tools(self) -> list[Tool]:
        """What the server offers, once it is ready; nothing, and a report, where it does not get ready."""
        try:
            return (await asyncio.shield(self._opening)).tools
        except ServerFailed as failure:
            self._report(f"not started: {failure}")
            return []

    async def call(self, tool: str, arguments: dict[str, Any], progress: Callable[[str], None]) -> ToolOutput:
        """Call `tool`; a call that is cancelled cancels its request. Raises ToolInputInvalid for what JSON cannot carry."""
        try:
            msgspec.json.encode(arguments)
        except (UnicodeEncodeError, TypeError) as error:
            raise ToolInputInvalid(f"The input cannot be sent as JSON: {error}.") from None
        try:
            opening = self._opening = self._renewed()
            # Shielded: a caller who gives up does not end the connection for everybody.
            server = await asyncio.shield(opening)
        except ServerFailed as failure:
            return self._error(f"is not running: {failure}")
        if self._closed:
            return self._error("has been closed")
        try:
            return as_output(await _request(server, tool, arguments, progress))
        except MCPError as error:
            if self._closed:
                return self._error("was closed during the call")
            if not _is_loss(error):
                return self._error(f"answered with an error: {error.message}")
            return self._lost(opening, error.message)
        except ValueError:
            return self._error("answered with something that is no tool result")
        except RuntimeError as error:
            # The library's word for a client that has ended by itself.
            return self._lost(opening, str(error))

    async def close(self) -> None:
        """End every connection of this server, within about twenty seconds."""
        self._closed = True
        await asyncio.gather(*(connection.close() for connection in self._connections), self._opening, return_exceptions=True)

    def _connect(self) -> asyncio.Task[Open]:
        connection = Connection(self._config, self._on_garbage)
        self._connections = [*(old for old in self._connections if not old.ended()), connection]
        return asyncio.create_task(connection.opened(self._start_seconds))

    def _renewed(self) -> asyncio.Task[Open]:
        """The current connection; a new one where a server on the net could not be reached the last time."""
        failed = self._opening.done() and self._opening.exception() is not None
        return self._connect() if failed and self._config.url and not self._closed else self._opening

    def _lost(self, opening: asyncio.Task[Open], why: str) -> ToolOutput:
        # Several calls may find the same connection dead.
        if opening is self._opening:
            why = self._connections[-1].with_last_words(why)
            self._report(f"its connection was lost: {why}")
            self._connections[-1].leave()
            again = bool(self._config.url) or self._restarts < RESTARTS
            self._opening = self._connect() if again else asyncio.create_task(_gone(why))
            self._restarts += 1
        return self._error(f"went away during the call ({why}); whether the call was carried out is not known")

    def _on_garbage(self) -> None:
        if not self._garbage:
            self._garbage = True
            self._report("what it writes to standard output is not all MCP messages; logs belong on standard error")

    def _error(self, what: str) -> ToolOutput:
        return ToolOutput(f"The MCP server {self._config.name} {what}", is_error=True)


async def _request(server: Open, name: str, arguments: dict[str, Any], told: Callable[[str], None]) -> CallToolResult:
    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        if message:
            told(message + "\n")

    # Not the client's call_tool: that one checks the answer against the server's output schema, and a regular expression
    # in there could stall the event loop.
    return await server.client.session.send_request(
        CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments)),
        CallToolResult,
        request_read_timeout_seconds=CALL_SECONDS,
        progress_callback=on_progress,
    )


def _is_loss(error: MCPError) -> bool:
    # The second is how the library tells of a server that does not know our session any more, as after its restart.
    return error.code == CONNECTION_CLOSED or error.message == "Session terminated"


async def _gone(why: str) -> Open:
    raise ServerFailed(f"its connection was lost again: {why}")
