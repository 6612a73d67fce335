"""Reaching an MCP server: the transport that its configuration asks for, and the handshake on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Tool

from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.mcp.last_words import LastWords

PAGES = 100
"""How many pages of tools are asked for: a server that never ends its list must not hold the start up."""

CONNECT_SECONDS = 30.0
EVENT_BYTES = 50_000_000
"""How long one answer over HTTP may be; a picture of some megabytes must pass."""
SILENCE_SECONDS = 300.0
"""How long an HTTP response may stay silent; long, because it may stand open for events."""


@asynccontextmanager
async def connected(config: McpServerConfig, last_words: LastWords, on_message: MessageHandlerFnT) -> AsyncIterator[Client]:
    """A client that has shaken hands. The server's process, if it is one, ends with the block.

    Leave it in the task that entered it. Raises OSError, MCPError, an error of the HTTP client, or a group of them.
    """
    async with AsyncExitStack() as stack:
        if config.url:
            timeout = httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS)
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=config.headers, timeout=timeout))
            transport = streamable_http_client(config.url, http_client=http, max_sse_event_size=EVENT_BYTES)
        else:
            program, *arguments = config.command
            parameters = StdioServerParameters(command=program, args=arguments, env=config.env)
            transport = stdio_client(parameters, errlog=last_words.file)
        yield await stack.enter_async_context(Client(transport, message_handler=on_message))


async def every_tool(client: Client) -> list[Tool]:
    """The tools of the server, all pages. Raises MCPError, or ValidationError for an answer that is no list of tools."""
    found: list[Tool] = []
    if client.server_capabilities.tools is None:
        return found
    cursor: str | None = None
    for _ in range(PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
