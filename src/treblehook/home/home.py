"""A home: what a user has set up, and what all of its sessions share."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from treblehook.contracts.vera.config import VeraConfig, load_config
from treblehook.contracts.vera.extensions.extensions import Extensions
from treblehook.contracts.vera.extensions.reporting import Reports
from treblehook.contracts.vera.host_log import HostLog
from treblehook.engine import Registry
from treblehook.home.asking import OpenSessions
from treblehook.home.settings import Settings, load_settings
from treblehook.host.mcp import McpServers
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.host.tool import AnyTool
from treblehook.host.tools import builtin_tools
from treblehook.runtimes.process import ProcessRuntime

OBSERVERS_AT_ONCE = 64
"""None waits for another (vera.md 3.10); the bound is for a host that closes a thousand sessions at once."""

TOOLS_AT_ONCE = 1000
"""Commands of tools live as long as they need and must not keep each other waiting."""


class Home:
    """An open home. Making one raises `ConfigInvalid` where a file does not load; nothing has been started then.

    `sessions` has those that are open. Extensions are loaded by the first session that runs hooks, and not again.

    While it is open, a configuration that is edited is read again for the next session; one that no longer loads is
    reported in `problems`, and the last valid one stays in force (vera.md 2.4).
    """

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self.path = path
        self.environ = environ
        self.registry = Registry()
        self.problems: list[Problem] = []
        self.hook_processes = ProcessRuntime()
        self.observer_processes = ProcessRuntime(at_once=OBSERVERS_AT_ONCE)
        self.tool_processes = ProcessRuntime(at_once=TOOLS_AT_ONCE)
        self.log = HostLog(path, self._unlogged)
        self.settings: Settings = load_settings(path)
        self.problems.extend(self.settings.warnings)
        self.sessions = OpenSessions()
        self._vera = load_config(path / "config.json")
        self._vera_stamp = _stamp(path / "config.json")
        reports = Reports(self.problems.append, self.log)
        self._extensions = Extensions(path, path / "runtime" / "logs", reports, self.sessions, environ)
        self._mcp = McpServers(self.settings.mcp, self.problems.append, file=str(self.settings.file))
        self._tools: asyncio.Task[dict[str, AnyTool]] | None = None

    def vera(self) -> VeraConfig:
        """The hooks of config.json, read again where the file has changed. Hooks outlive a file that is broken or gone."""
        file = self.path / "config.json"
        stamp = _stamp(file)
        if stamp != self._vera_stamp:
            self._vera_stamp = stamp
            if stamp is None:
                # An editor may be about to put it back, and whoever wants no hooks restarts anyway (vera.md 2.4).
                self.problems.append(Problem(str(file), "", "it is gone; its hooks stay in force until a restart", level="warning"))
                return self._vera
            try:
                self._vera = load_config(file)
            except ConfigInvalid as invalid:
                self.problems.extend(invalid.problems)
        return self._vera

    async def extensions(self) -> Extensions:
        """The extensions, loaded. What does not load is reported, and stops nothing else."""
        await self._extensions.load(self._vera)
        return self._extensions

    async def tools(self) -> dict[str, AnyTool]:
        """The tools that every session is offered, started once: the built-in ones and those of the MCP servers."""
        if self._tools is None:
            self._tools = asyncio.ensure_future(self._start_tools())
        # A session that gives up opening does not take them from the others.
        return await asyncio.shield(self._tools)

    async def _start_tools(self) -> dict[str, AnyTool]:
        found = [*builtin_tools(self.tool_processes), *await self._mcp.start()]
        return {tool.spec.name: tool for tool in found}

    def _unlogged(self, problem: str) -> None:
        self.problems.append(Problem(str(self.path), "", problem, level="warning"))

    async def close(self) -> None:
        """End what the sessions shared; sessions are closed before."""
        if self._tools is not None:
            self._tools.cancel()
        await self._extensions.close()
        await self._mcp.close()
        await self.hook_processes.close()
        await self.observer_processes.close()
        await self.tool_processes.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when a file is edited: time and size; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
