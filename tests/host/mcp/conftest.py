"""What the tests of MCP servers share: servers that are closed in the end, the problems that they report, a way to call."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.processes import held, new_since
from treblehook.host.mcp import McpServerConfig, McpServers
from treblehook.host.problems import Problem
from treblehook.host.tool import Tool, ToolContext, ToolOutput

RIG = Path(__file__).parents[2] / "rig"
TINY = (sys.executable, str(RIG / "tiny_mcp.py"))
FULL = (sys.executable, str(RIG / "mcp_server.py"), "stdio")

Call = Callable[..., Awaitable[ToolOutput]]
Start = Callable[..., Awaitable[dict[str, Tool]]]


def stub(**results: object) -> tuple[str, ...]:
    """The command of a server that gives these results; `tools_list` is `tools/list`."""
    named = {name.replace("_", "/"): result for name, result in results.items()}
    return (sys.executable, str(RIG / "stub_mcp.py"), json.dumps(named))


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
async def start(problems: list[Problem]) -> AsyncIterator[Start]:
    """Start servers; afterwards they are closed, and no process of theirs and no descriptor is left."""
    before = held()
    opened: list[McpServers] = []

    async def start(*configs: McpServerConfig, seconds: float = 30) -> dict[str, Tool]:
        servers = McpServers(configs, problems.append, file="config.toml", start_seconds=seconds)
        opened.append(servers)
        return {tool.spec.name: tool for tool in await servers.start()}

    yield start
    for servers in opened:
        await servers.close()
    left = new_since(before)
    assert not left.children
    assert not left.descriptors


@pytest.fixture
def call(context: ToolContext) -> Call:
    async def call(tool: Tool, **arguments: object) -> ToolOutput:
        return await tool.run(arguments, context)

    return call


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the full server writes its calls to."""
    path = tmp_path / "mcp.log"
    path.touch()
    return path


@asynccontextmanager
async def http_server(log: Path, port: int = 0) -> AsyncIterator[tuple[str, int]]:
    """The URL and the process id of the full server over HTTP."""
    process = await asyncio.create_subprocess_exec(
        *FULL[:2], "http", str(port), stdout=asyncio.subprocess.PIPE, env={**os.environ, "MCP_LOG": str(log)}
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip(), process.pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
