"""A home: what a user has set up, and what all of its sessions share."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from treblehook.contracts.vera.config import VeraConfig, load_config
from treblehook.contracts.vera.extensions.extensions import Extensions
from treblehook.contracts.vera.extensions.reporting import Reports
from treblehook.contracts.vera.host_log import HostLog
from treblehook.engine import Background, Dispatcher, Journal, Registry
from treblehook.home.asking import OpenSessions
from treblehook.home.bus import EventBus
from treblehook.home.claude_settings import ClaudeSettings
from treblehook.home.components.staged import HomeComponents
from treblehook.home.lua import LuaMachines
from treblehook.home.lua.log import LuaLog
from treblehook.home.settings import Settings, load_settings
from treblehook.host.isolation import Isolation
from treblehook.host.mcp import McpServers
from treblehook.host.notes import NoteProblem
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.host.protected import Protection
from treblehook.host.tool import AnyTool
from treblehook.host.tools import builtin_tools
from treblehook.lifecycle.daemon_events import DaemonEvent
from treblehook.runtimes.process import ProcessRuntime

if TYPE_CHECKING:
    # Most homes have no notes.
    from treblehook.kiln.kiln import Hearer
    from treblehook.kiln.kilns import Kilns

OBSERVERS_AT_ONCE = 64
"""None waits for another (vera.md 3.10); the bound is for a host that closes a thousand sessions at once."""

TOOLS_AT_ONCE = 1000
"""Commands of tools live as long as they need and must not keep each other waiting."""


INDEX_SECONDS = 10.0
"""How long the first session waits for its notes to be indexed; what is not by then is missing for a while."""

STARTED = ("kilns", "mcp", "web", "artifacts", "claude")
"""The tables of config.toml by which something is started once, when a home is opened."""

BUS_SECONDS = 10.0
"""How long closing a home waits for the handlers of what has happened."""


class Home:
    """An open home. Making one raises `ConfigInvalid` where a file does not load; nothing has been started then.

    `sessions` has those that are open. Extensions, and the plugins of `lua`, are loaded by the first session that runs hooks, and
    not again. What happens to files and notes, and webhooks, goes to `bus`, whose calls of hooks are in `events`. `isolation` has what
    may not run on this host, `protection` what may not be changed unasked.

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
        self.outdated = False
        """whether config.toml says something else by now of what the home has started by it"""
        self._settings_stamp = _stamp(path / "config.toml")
        self.settings: Settings = load_settings(path)
        self.problems.extend(self.settings.warnings)
        self.sessions = OpenSessions()
        self._vera = load_config(path / "config.json")
        self._vera_stamp = _stamp(path / "config.json")
        reports = Reports(self.problems.append, self.log)
        self._extensions = Extensions(path, path / "runtime" / "logs", reports, self.sessions, environ)
        self.isolation = Isolation()
        self.protection = Protection(path, environ)
        self.events = Journal()
        self.events.watchers = [self.log]
        self.bus = EventBus(Dispatcher(self.registry, background=Background(), journal=self.events).fire, self._undispatched)
        self._kilns: Kilns | None = None
        self.components = HomeComponents(path, self.settings.file, self.settings.artifacts, self.problems.append)
        self.lua = LuaMachines(
            path,
            environ,
            registry=self.registry,
            modes=lambda: self.settings.modes,
            sections=lambda: self.settings.plugins,
            kilns=self.settings.kilns,
            notes=self.made_kilns,
            sessions=self.sessions,
            isolation=self.isolation,
            log=LuaLog(path, self.problems.append),
            report=self.problems.append,
        )
        self.claude = ClaudeSettings(path, environ, self.settings.claude, modes=lambda: self.settings.modes, report=self.problems.append)
        self._notes: asyncio.Task[None] | None = None
        self._mcp = McpServers(self.settings.mcp, self.problems.append, file=str(self.settings.file))
        self._tools: asyncio.Task[dict[str, AnyTool]] | None = None

    def reread(self) -> None:
        """Take over what has been edited in config.toml: rules, modes and what else sessions look at. What the home has started by it stays
        as it is until the home is opened again, and that is said. A file that is broken or gone changes nothing."""
        file = self.settings.file
        stamp = _stamp(file)
        if stamp == self._settings_stamp:
            return
        self._settings_stamp = stamp
        if stamp is None:
            self.problems.append(Problem(str(file), "", "it is gone; what it said stays in force until a restart", level="warning"))
            return
        try:
            found = load_settings(self.path)
        except ConfigInvalid as invalid:
            self.problems.extend(invalid.problems)
            return
        started = {name: getattr(self.settings, name) for name in STARTED}
        self.problems.extend(found.warnings)
        for name, was in started.items():
            if getattr(found, name) != was:
                self.outdated = True
                self.problems.append(Problem(str(file), name, "what has changed there holds from the next start on", level="warning"))
        self.settings = replace(found, **started)

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

    async def notes(self) -> "Kilns | None":
        """The notes, indexed and looked after from now on; None without kilns. Raises `ConfigInvalid` where a library is missing."""
        if not self.settings.kilns:
            return None
        if self._notes is None:
            self._notes = asyncio.ensure_future(self._open_kilns())
        await asyncio.shield(self._notes)
        return self._kilns

    def made_kilns(self, hearer: "Hearer | None" = None) -> "Kilns | None":
        """The notes, not opened yet: the plugins are loaded before the first of them is told of. Without a `hearer` the bus hears."""
        if self._kilns is None and self.settings.kilns:
            from treblehook.kiln.kiln import Hearer
            from treblehook.kiln.kilns import Kilns

            hearer = hearer or Hearer(self.bus.tell, report=self.problems.append)
            self._kilns = Kilns(self.settings.kilns, self.path / "kilns", hearer)
        return self._kilns

    async def _open_kilns(self) -> None:
        from treblehook.kiln.kilns import KilnsMissing

        kilns = self.made_kilns()
        assert kilns is not None, "notes are asked for where there are kilns"
        try:
            await kilns.open()
        except KilnsMissing as missing:
            raise ConfigInvalid([Problem(str(self.settings.file), "kilns", str(missing))]) from missing
        ready = asyncio.ensure_future(_ready(kilns))
        done, _ = await asyncio.wait({ready}, timeout=INDEX_SECONDS)
        if not done:
            ready.cancel()
            what = "notes are still being indexed; some will not be found for a while"
            self.problems.append(Problem(str(self.settings.file), "kilns", what, level="warning"))

    def _undispatched(self, event: DaemonEvent, error: Exception) -> None:
        what = f"its dispatch failed: {type(error).__name__}: {error}"
        self.problems.append(Problem(str(self.path), type(event).__name__, what))

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
        if self._notes is not None:
            self._notes.cancel()
            with suppress(asyncio.CancelledError, ConfigInvalid):
                await self._notes
        # Handlers of what has happened may still read notes; what closing the kilns finishes is told after that.
        await self.bus.settle(BUS_SECONDS)
        if self._kilns is not None:
            await self._kilns.close()
        left = await self.bus.drain(BUS_SECONDS)
        if left:
            self.problems.append(Problem(str(self.path), "", f"the handlers of {left} events did not finish in time", level="warning"))
        await self.lua.close()
        await self.components.close()
        await self._extensions.close()
        await self._mcp.close()
        await self.claude.close()
        await self.hook_processes.close()
        await self.observer_processes.close()
        await self.tool_processes.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


async def _ready(kilns: "Kilns") -> None:
    """Wait until notes are found, by their words and by their meaning."""
    await kilns.indexed()
    for name in kilns.kilns:
        # Whoever looks after the kiln tells of it.
        with suppress(NoteProblem):
            await kilns.embed(name)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when a file is edited: time and size; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
