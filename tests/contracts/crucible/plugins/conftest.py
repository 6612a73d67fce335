"""A home with plugins in one plugin VM, and events to fire at them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.crucible_rig import evaluate
from treblehook.contracts.crucible.plugins.discovery import find_plugins
from treblehook.contracts.crucible.plugins.plugins import Plugins, PluginState
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Background, Dispatcher, Journal, Outcome, Registry
from treblehook.host.problems import Problem
from treblehook.lifecycle import PreToolCall, SessionStart, ToolCall
from treblehook.runtimes.lua import LuaVM


class PluginHome:
    """`folder` is the home. `said` are the arguments of the Lua function `say`, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, dict[str, Any]] = {}
        self.environ: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.logged: list[str] = []
        self.said: list[Any] = []
        self.registry = Registry()
        self.journal = Journal()
        self.lua = LuaVM("plugins", output=self.logged.append)
        self.vm = CrucibleVM("plugin", self.lua, self.registry, lambda level, owner, text, file, line: self.logged.append(text))
        self.lua.provide("say", lambda *given: self.said.append(given[0] if len(given) == 1 else list(given)))
        self.made: Plugins | None = None
        self.dispatcher = Dispatcher(self.registry, background=Background(), journal=self.journal)

    def write(self, path: str, text: str | bytes) -> Path:
        """A file below `plugins/`."""
        file = self.folder / "plugins" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def load(self, **files: str | bytes) -> Plugins:
        """Write `NAME/init.lua` for each argument, and load everything."""
        for name, text in files.items():
            self.write(f"{name}/init.lua", text)
        found = find_plugins(self.folder, self.environ, self.problems.append)
        self.made = Plugins(self.vm, self.registry, found, lambda: self.settings, self.problems.append)
        self.made.load()
        return self.made

    @property
    def plugins(self) -> Plugins:
        assert self.made is not None
        return self.made

    def state(self, name: str) -> PluginState:
        """The state of one plugin."""
        [state] = [state for state in self.plugins.states() if state.name == name]
        return state

    def user_file(self, text: str) -> None:
        """Evaluate the user's init.lua in the plugin VM, as it comes after the plugins."""
        file = self.folder / "init.lua"
        file.write_text(text)
        evaluate(self.vm, file, owner=None, name="init.lua")

    async def call(self, tool: str = "bash", session: str = "s1", **arguments: Any) -> Outcome[PreToolCall]:
        """Fire `pre_tool_call`."""
        return await self.dispatcher.fire(PreToolCall(session=session, call=ToolCall("c1", tool, arguments)))

    async def starts(self, session: str = "s1") -> Outcome[SessionStart]:
        """Fire `on_session_start`."""
        return await self.dispatcher.fire(SessionStart(session=session, workspace="/w"))

    def messages(self) -> list[str]:
        """What was reported, without the file it was about."""
        return [problem.message for problem in self.problems]


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[PluginHome]:
    home = PluginHome(tmp_path / "home")
    home.folder.mkdir()
    yield home
    if home.made is not None:
        await home.made.close()
    home.vm.close()


@pytest.fixture
def waits(home: PluginHome) -> Callable[[], None]:
    """Gives Lua `wait()`, which waits until the test calls what this answers."""
    free = asyncio.Event()

    async def wait(*_: object) -> None:
        home.said.append("waiting")
        await free.wait()

    home.lua.provide_async("wait", wait)
    return free.set
