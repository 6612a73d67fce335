"""What every `cru` module of one Lua machine is given: who calls, for which session, and how functions get into Lua."""

import asyncio
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from treblehook.contracts.crucible.caller import WORKSPACE, Caller
from treblehook.contracts.crucible.library.arguments import Options
from treblehook.contracts.crucible.library.kinds import WORD
from treblehook.contracts.crucible.library.owned import Owned
from treblehook.contracts.crucible.library.services import Services
from treblehook.contracts.crucible.log import Level
from treblehook.contracts.crucible.plugins.host_function import host_function
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.runtimes.lua import LuaFunction, LuaRaise
from treblehook.runtimes.process.reaper import Reaper

Function = Callable[..., Any]
Work = Callable[[], Any]


class Library:
    """The library of one machine. `owned` is what its plugins have going on."""

    def __init__(self, vm: CrucibleVM, services: Services) -> None:
        self.vm = vm
        self.lua = vm.lua
        self.services = services
        self.owned = Owned()
        self.reaper = Reaper()
        vm.on_clear(self.owned.clear)
        vm.on_close(self.owned.close)

    @property
    def caller(self) -> Caller:
        """Who calls right now."""
        return self.vm.caller

    @property
    def owner(self) -> str:
        """Whose data is meant: the plugin, or the file that is nobody's plugin. Each workspace's own file stands for itself."""
        caller = self.caller
        if caller.owner is None and caller.hook == WORKSPACE:
            return f"{WORKSPACE} {self.workspace() or ''}"
        return caller.owner or caller.hook

    def session(self, function: str, options: Options) -> str:
        """The session that is meant: the option `session`, else that of the call. Raises `LuaRaise` where there is neither."""
        session = options.read("session", WORD, self.caller.session)
        if session is None:
            raise LuaRaise(f"{function}: this call belongs to no session; say which one with the option 'session'")
        return session

    def workspace(self) -> Path | None:
        """The workspace of the session that the call belongs to."""
        session = self.caller.session
        return None if session is None else self.services.workspace(session)

    def located(self, path: str) -> Path:
        """Where a path leads: a relative one begins at the session's workspace, and outside of a session where the host runs."""
        return (self.workspace() or Path()) / path

    def log(self, level: Level, text: str, caller: Caller) -> None:
        """A line in the log, in the name of whoever called."""
        self.vm.log(level, caller.owner or caller.hook, text, "", None)

    def provide_work(self, path: str, prepared: Callable[..., Work]) -> None:
        """A function whose work may take long: `prepared` reads the arguments, and what it returns is done in a thread. A run that
        must not wait has it done at once."""

        async def beside(*given: object) -> Any:
            return await asyncio.to_thread(prepared(*given))

        self.lua.provide_async(path, beside, at_once=lambda *given: prepared(*given)())

    def provide_lua(self, path: str, name: str, *functions: Function) -> None:
        """What a file in `lua/` returns; it is given the functions, of which async ones wait."""
        given = [host_function(self.lua, function) for function in functions]
        self.lua.provide_lua(path, lua_source(name), *given)

    def loaded(self, name: str) -> LuaFunction:
        """The function that a file in `lua/` returns."""
        (function,) = self.lua.run_now(self.lua.load(lua_source(name).encode(), f"{name}.lua"))
        assert isinstance(function, LuaFunction)
        return function

    async def close(self) -> None:
        """End what is still going on, and wait until it has ended. Where nobody can wait, closing the machine ends it too."""
        self.owned.close()
        await self.reaper.close()


def missing(function: str, what: str) -> NoReturn:
    """Raise for a service that this host does not have."""
    raise LuaRaise(f"{function}: {what}")


@cache
def lua_source(name: str) -> str:
    """The text of a file in `lua/`."""
    return (files("treblehook.contracts.crucible.library") / "lua" / f"{name}.lua").read_text("utf-8")
