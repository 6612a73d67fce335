"""One fresh plugin machine for one test: the plugin, stand-ins for what is outside, and what a test file is given."""

import asyncio
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.http_client import HttpClient
from treblehook.contracts.crucible.library.install import install
from treblehook.contracts.crucible.library.services import Services
from treblehook.contracts.crucible.library.storage_file import StorageFile
from treblehook.contracts.crucible.log import Level
from treblehook.contracts.crucible.plugins.calling import Calling
from treblehook.contracts.crucible.plugins.discovery import FoundPlugin
from treblehook.contracts.crucible.plugins.host_function import host_function
from treblehook.contracts.crucible.plugins.plugins import Plugins, PluginState
from treblehook.contracts.crucible.testing.event_tables import EventInvalid, event_of
from treblehook.contracts.crucible.testing.outcome_tables import Table, outcome_table
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Background, Dispatcher, Journal, Registry
from treblehook.host.tool import ToolContext, ToolInputInvalid
from treblehook.lifecycle import Event, SessionEnd, SessionStart
from treblehook.runtimes.lua import LuaFunction, LuaRaise, LuaVM
from treblehook.runtimes.process import ProcessRuntime

SESSION: Final = "test-session"
_MOST_LINES: Final = 1000
_ROUNDS: Final = 20
"""How often everything else gets its turn after the clock was turned."""


class Stage:
    """`output` is what was printed and logged; `failed` the comparison that failed last: message, expected, actual."""

    def __init__(self, found: FoundPlugin, scratch: Path) -> None:
        self.output: list[str] = []
        self.failed: tuple[str, str | None, str | None] | None = None
        self._found = found
        self._scratch = scratch
        self._settings: dict[str, dict[str, Any]] = {found.name: {}}
        self._workspaces: dict[str, Path] = {}
        self._loop = asyncio.get_running_loop()
        self._registry = Registry()
        self._journal = Journal()
        self._dispatcher = Dispatcher(self._registry, background=Background(), journal=self._journal)
        self.lua = LuaVM("test", output=self._say, clock=self._loop.time)
        self.vm = CrucibleVM("plugin", self.lua, self._registry, self._logged)
        self._processes = ProcessRuntime()
        self._library = install(self.vm, self._services())
        self.plugins = Plugins(self.vm, self._registry, [found], lambda: self._settings, lambda problem: self._say(str(problem)))
        self._was_loaded = False
        self.calling = Calling(self.lua)
        self.tests: LuaFunction = self._give()

    @property
    def caller(self) -> Caller:
        """Whose code a test is: it may look into what its plugin keeps."""
        return Caller(owner=self._found.name, event="test", hook=self._found.name)

    async def close(self) -> None:
        """End everything that the test has started."""
        await self.plugins.close()
        await self._library.close()
        await self._processes.close()
        self.vm.close()

    def _services(self) -> Services:
        return Services(
            environ={},
            processes=self._processes,
            http=HttpClient(),
            state=self._scratch / "state",
            storage=StorageFile(self._scratch / "storage.sqlite"),
            settings=self._settings,
            workspace=self._workspaces.get,
            session_folder=lambda session: self._scratch / "sessions" / session,
        )

    def _say(self, line: str) -> None:
        if len(self.output) < _MOST_LINES:
            self.output.append(line)
        elif len(self.output) == _MOST_LINES:
            self.output.append("...")

    def _logged(self, level: Level, owner: str, text: str, file: str, line: int | None) -> None:
        self._say(f"[{level}] {owner}: {text}" + (f" ({file}:{line})" if file else ""))

    def _give(self) -> LuaFunction:
        """What a test file finds: the last answers what it described."""
        lua = self.lua
        lua.provide_lua("assert", _lua("assert"), host_function(lua, self._keep_failure))
        lua.provide_lua("mock", _lua("mock"))
        lua.provide_lua("mock.fs", _lua("mock_fs"))
        lua.provide_lua("mock.kiln", _lua("mock_kiln"))
        # The modules of `cru` are there now: a stand-in has looked at each of them.
        lua.provide("cru.timer.clock", lambda *_: self._loop.time())
        acts: list[Callable[..., Any]] = [self._fire, self._start_session, self._end_session, self._call_tool, self._load, self._reload]
        acts += [self._state, self._advance, lambda *_: self._loop.time()]
        lua.provide_lua("fire", _lua("fire"), *(host_function(lua, act) for act in acts))
        lua.provide_lua("treblehook_tests", _lua("suite"))
        (tests,) = lua.run_now(lua.load(b"local tests = treblehook_tests; treblehook_tests = nil; return tests", "tests"))
        assert isinstance(tests, LuaFunction)
        return tests

    def _keep_failure(self, message: str | bytes, expected: str | bytes | None = None, actual: str | bytes | None = None) -> None:
        self.failed = (_text(message), None if expected is None else _text(expected), None if actual is None else _text(actual))

    async def _load(self, settings: dict[str, Any]) -> Table:
        """`plugin.load(settings)`: again, where it is loaded already. Raises in Lua where it does not load."""
        self._settings[self._found.name] = dict(settings or {})
        if self._was_loaded:
            return await self._reload()
        self._was_loaded = True
        self.plugins.load()
        return self._loaded()

    async def _reload(self) -> Table:
        if not self._was_loaded:
            return await self._load({})
        await self.plugins.reload(self._found.name)
        return self._loaded()

    def _loaded(self) -> Table:
        state = self._state()
        if state["state"] == "error":
            raise LuaRaise(f"the plugin did not load: {state['cause']}")
        return state

    async def _be_loaded(self) -> None:
        """The plugin loads with the first thing that is done to it, unless the test has loaded it before."""
        if not self._was_loaded:
            await self._load({})

    def _state(self) -> Table:
        [state] = self.plugins.states()
        return _state_table(state) if self._was_loaded else {"state": "not loaded", "name": state.name}

    async def _fire(self, name: str, fields: dict[str, Any], options: dict[str, Any]) -> Table:
        await self._be_loaded()
        session, workspace = self._session(options, "session_id")
        try:
            event = event_of(name, fields or {}, session, workspace)
        except EventInvalid as invalid:
            raise LuaRaise(f"fire: {invalid}") from invalid
        return {**await self._dispatched(event), "event": name}

    async def _start_session(self, given: dict[str, Any]) -> Table:
        await self._be_loaded()
        session, workspace = self._session(given, "id")
        return await self._dispatched(SessionStart(session=session, workspace=workspace))

    async def _end_session(self, given: dict[str, Any]) -> Table:
        await self._be_loaded()
        session, workspace = self._session(given, "id")
        return await self._dispatched(SessionEnd(session=session, workspace=workspace, reason="closed"))

    def _session(self, given: dict[str, Any], key: str) -> tuple[str, str]:
        """The session's id and its workspace, which stays the same until another one is named."""
        given = given or {}
        for name in given:
            if name not in (key, "workspace"):
                raise LuaRaise(f"a session has `{key}` and `workspace`, found `{name}`")
        session, workspace = given.get(key, SESSION), given.get("workspace")
        if not isinstance(session, str) or not isinstance(workspace, str | None):
            raise LuaRaise(f"`{key}` and `workspace` of a session are strings")
        if workspace is not None:
            self._workspaces[session] = Path(workspace)
        known = self._workspaces.get(session)
        return session, "" if known is None else str(known)

    async def _dispatched(self, event: Event) -> Table:
        first = len(self._journal.calls)
        outcome = await self._dispatcher.fire(event)
        return outcome_table(event, outcome, list(self._journal.calls)[first:])

    async def _call_tool(self, name: str, arguments: dict[str, Any], options: dict[str, Any]) -> Table:
        await self._be_loaded()
        session, workspace = self._session(options, "session_id")
        tools = {tool.spec.name: tool for tool in self.plugins.tools()}
        if name not in tools:
            raise LuaRaise(f"the plugin has no tool {name!r}; it has: {', '.join(tools) or 'none'}")
        context = ToolContext(Path(workspace or "/"), session, "call_1", {}, lambda text: None)
        try:
            output = await tools[name].run(arguments or {}, context)
        except ToolInputInvalid as invalid:
            return {"content": str(invalid), "is_error": True}
        return {"content": output.content, "is_error": output.is_error}

    async def _advance(self, seconds: float = 0) -> None:
        """`clock.advance(seconds)`: everything that is due until then happens, in order."""
        await self._be_loaded()
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
            raise LuaRaise(f"clock.advance takes seconds, at least 0; found {seconds!r}")
        await asyncio.sleep(seconds)
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode(errors="backslashreplace")


def _state_table(state: PluginState) -> Table:
    return {
        "name": state.name,
        "state": state.state,
        "version": state.version,
        "cause": state.cause,
        "handlers": state.handlers,
        "tools": list(state.tools),
        "services": list(state.services),
    }


@cache
def _lua(name: str) -> str:
    return (files(__package__) / "lua" / f"{name}.lua").read_text("utf-8")
