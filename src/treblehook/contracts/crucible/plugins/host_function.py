"""Functions of the host as values: for library code in Lua, which gets them as arguments and keeps them to itself."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Final

from treblehook.runtimes.lua import LuaFunction, LuaVM

_NAME: Final = "treblehook_given"
_TAKE: Final = f"local given = {_NAME}; {_NAME} = nil; return given".encode()


def host_function(lua: LuaVM, function: Callable[..., Any]) -> LuaFunction:
    """`function` as Lua can call it; an async one makes the calling coroutine wait."""
    (lua.provide_async if iscoroutinefunction(function) else lua.provide)(_NAME, function)
    (given,) = lua.run_now(lua.load(_TAKE, _NAME))
    assert isinstance(given, LuaFunction)
    return given
