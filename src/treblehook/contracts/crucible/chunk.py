"""Functions that are written in Lua files of ours, beside the modules that use them."""

from functools import cache
from importlib.resources import files

from treblehook.runtimes.lua import LuaFunction, LuaVM


class Chunk:
    """The function that the file `name` returns, loaded into one machine when it is first needed."""

    def __init__(self, lua: LuaVM, name: str) -> None:
        self._lua = lua
        self._name = name
        self._function: LuaFunction | None = None

    def function(self) -> LuaFunction:
        """The function."""
        if self._function is None:
            (self._function,) = self._lua.run_now(self._lua.load_library(_source(self._name)))
        assert self._function is not None, "the file returns a function"
        return self._function


@cache
def _source(name: str) -> bytes:
    return (files("treblehook.contracts.crucible") / name).read_bytes()
