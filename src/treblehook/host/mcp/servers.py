"""All MCP servers of a home."""

import asyncio
import hashlib
import importlib
import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.problems import Problem
from treblehook.host.tool import Tool, ToolContext, ToolOutput, ToolSpec

if TYPE_CHECKING:
    from mcp.types import Tool as ServerTool

    from treblehook.host.mcp.server import McpServer

START_SECONDS = 30.0
LONGEST_NAME = 64
"""Of a tool, in characters, as the strictest of the models' providers has it."""


class McpServers:
    """Starts the servers side by side; one that fails is reported, by its place in `file`, and disturbs nobody.

    `report` is also called later, when a server dies. `close` it before the loop ends.
    """

    def __init__(
        self,
        configs: Sequence[McpServerConfig],
        report: Callable[[Problem], None],
        *,
        file: str = "config.toml",
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._configs = configs
        self._report = report
        self._file = file
        self._start_seconds = start_seconds
        self._servers: list[McpServer] = []

    async def start(self) -> list[Tool]:
        """The tools of all servers that are ready within `start_seconds`, in the order of the configuration."""
        if not self._configs:
            return []
        try:
            # Takes half a second, in which the loop should not stand still.
            await asyncio.to_thread(_load)
        except ImportError as error:
            self._problem("", f"MCP servers need the extra mcp: {error}", "pip install 'treblehook[mcp]'")
            return []
        from treblehook.host.mcp.server import McpServer

        for config in self._configs:
            self._servers.append(McpServer(config, self._reporter(config.name), self._start_seconds))
        offers = await asyncio.gather(*(server.tools() for server in self._servers))
        found: dict[str, Tool] = {}
        for config, server, offered in zip(self._configs, self._servers, offers, strict=True):
            for one in offered:
                tool = McpTool(server, config.name, one)
                if tool.spec.name in found:
                    self._problem(config.name, f"its tool {one.name!r} is left out: there is a {tool.spec.name} already")
                found.setdefault(tool.spec.name, tool)
        return list(found.values())

    async def close(self) -> None:
        """End every server, within about twenty seconds, whatever they do."""
        await asyncio.gather(*(server.close() for server in self._servers))

    def _reporter(self, name: str) -> Callable[[str], None]:
        return lambda what: self._problem(name, f"the MCP server {name}: {what}")

    def _problem(self, name: str, message: str, remedy: str = "") -> None:
        self._report(Problem(self._file, f"mcp.{name}" if name else "mcp", message, remedy, "warning"))


class McpTool:
    """A tool of a server, named `mcp__SERVER__TOOL`."""

    def __init__(self, server: "McpServer", server_name: str, tool: "ServerTool") -> None:
        self.spec = ToolSpec(
            name=_tool_name(server_name, tool.name),
            description=tool.description or tool.title or tool.name,
            parameters={"type": "object", **tool.input_schema},
            asks=True,
        )
        self._server = server
        self._name = tool.name

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call it. Raises ToolInputInvalid; an error of the server or its end is an output with `is_error`."""
        return await self._server.call(self._name, arguments, context.progress)


def tool_prefix(server: str) -> str:
    """What the names of all tools of a server begin with, but for those that are too long: `mcp__SERVER__`."""
    return f"mcp__{_clean(server)}__"


def _tool_name(server: str, tool: str) -> str:
    """A name that every provider takes: letters, digits, `_` and `-`; one that is too long ends in a digest of the whole."""
    name = tool_prefix(server) + _clean(tool)
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}_{digest}"


def _clean(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _load() -> None:
    importlib.import_module("treblehook.host.mcp.server")
    # The library logs what it also tells us; without a handler Python would write that to the user's terminal.
    for logger in (logging.getLogger("mcp"), logging.getLogger("client")):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
