"""Lua code is run here, in VMs with limits; what its functions mean, and which functions the host gives it, is decided elsewhere.

Read `vm.py` first; `prelude/` is the Lua side: what ends a run (`run.lua`), how values cross (`values.lua`), what users get (`system.lua`).
"""

from treblehook.runtimes.lua.errors import (
    LuaClosed,
    LuaEntered,
    LuaFailed,
    LuaMemoryFull,
    LuaRaise,
    LuaTimedOut,
    LuaValueInvalid,
)
from treblehook.runtimes.lua.handler import LuaHandler
from treblehook.runtimes.lua.limits import LuaLimits
from treblehook.runtimes.lua.values import ARRAY_MARK, LUA_NULL, LuaFunction, LuaNull, LuaReturn, LuaTable, LuaValue
from treblehook.runtimes.lua.vm import LuaVM

__all__ = [
    "ARRAY_MARK",
    "LUA_NULL",
    "LuaClosed",
    "LuaEntered",
    "LuaFailed",
    "LuaFunction",
    "LuaHandler",
    "LuaLimits",
    "LuaMemoryFull",
    "LuaNull",
    "LuaRaise",
    "LuaReturn",
    "LuaTable",
    "LuaTimedOut",
    "LuaVM",
    "LuaValue",
    "LuaValueInvalid",
]
