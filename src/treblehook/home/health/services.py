"""What a home's settings reach for: its model and its MCP servers."""

import asyncio
from collections.abc import Mapping
from typing import Final

from treblehook.agent.models import open_model
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.home.health.finding import Finding, found
from treblehook.home.settings import Settings
from treblehook.host.mcp import McpServerConfig, McpServers
from treblehook.host.problems import Problem

MCP_SECONDS: Final = 15.0
"""How long a server may take to get ready; half of what a session gives it."""


def model(settings: Settings, environ: Mapping[str, str]) -> Finding:
    """Whether the default model's SPEC opens; nothing is sent to it."""
    spec = settings.model.default
    if spec is None:
        remedy = f'in {settings.file}: [model] default = "anthropic:NAME"'
        return Finding("model", "ok", "no default is set: name one with --model", remedy)
    try:
        open_model(spec, environ=environ, window=settings.model.context_window)
    except ModelSpecInvalid as invalid:
        return Finding("model", "error", str(invalid), f"model.default in {settings.file}")
    return Finding("model", "ok", f"{spec} opens; nothing was sent to it")


async def mcp_servers(settings: Settings) -> list[Finding]:
    """Each server, started, asked for its tools, and ended: in the order of the file, side by side."""
    return [finding for one in await asyncio.gather(*(_server(config, settings) for config in settings.mcp)) for finding in one]


async def _server(config: McpServerConfig, settings: Settings) -> list[Finding]:
    problems: list[Problem] = []
    servers = McpServers([config], problems.append, file=str(settings.file), start_seconds=MCP_SECONDS)
    try:
        tools = await servers.start()
    finally:
        await servers.close()
    what = f"mcp {config.name}"
    if problems:
        return [found(what, problem) for problem in problems]
    return [Finding(what, "ok", f"starts and offers {len(tools)} {'tool' if len(tools) == 1 else 'tools'}")]
