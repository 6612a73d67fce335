"""Calling what a plugin brings, where only some of what comes back, or nothing of it, is wanted."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from treblehook.contracts.crucible.caller import Caller
from treblehook.runtimes.lua import LuaFunction, LuaValue, LuaVM


class Calling:
    """Calls functions of one machine. Every method raises `LuaFailed`."""

    def __init__(self, lua: LuaVM) -> None:
        self._lua = lua
        source = (files(__package__) / "lua" / "calling.lua").read_bytes()
        self._evaluate, self._call = lua.run_now(lua.load_library(source))

    def evaluate(self, chunk: LuaFunction, keys: Sequence[str], about: Caller, cpu_seconds: float) -> tuple[str, dict[str, Any], list[str]]:
        """Run a file: Lua's type of what it returned; of a table the values that it has for `keys`, and the names that it has in all."""
        kind, known, names = [*self._lua.run_now(self._evaluate, chunk, list(keys), about=about, cpu_seconds=cpu_seconds), {}, []][:3]
        return kind, known or {}, names or []

    def now(self, function: LuaFunction, *arguments: LuaValue, about: Caller, cpu_seconds: float) -> None:
        """Call a function that must not wait."""
        self._lua.run_now(self._call, function, *arguments, about=about, cpu_seconds=cpu_seconds)

    async def waiting(
        self, function: LuaFunction, *arguments: LuaValue, about: Caller, seconds: float, cpu_seconds: float | None = None
    ) -> None:
        """Call a function that may wait so many seconds altogether."""
        await self._lua.run(self._call, function, *arguments, about=about, seconds=seconds, cpu_seconds=cpu_seconds)
