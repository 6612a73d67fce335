"""`cru.json`: encode, decode, array, null. The rules are in `json_text.py`; an empty table is an object unless `array` marked it."""

from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.json_text import JsonInvalid, decoded, encoded
from treblehook.contracts.crucible.library.kinds import ANYTHING, OCTETS
from treblehook.contracts.crucible.library.library import Library
from treblehook.runtimes.lua import ARRAY_MARK, LUA_NULL


def install(library: Library) -> None:
    library.lua.provide("cru.json.encode", _encode)
    library.lua.provide("cru.json.decode", _decode)
    library.lua.provide_value("cru.json.array", ARRAY_MARK)
    library.lua.provide_value("cru.json.null", LUA_NULL)


def _encode(*given: object) -> bytes:
    call = Arguments("cru.json.encode", given)
    try:
        return encoded(call.may_take("value", ANYTHING))
    except JsonInvalid as problem:
        call.refuse(str(problem))


def _decode(*given: object) -> Any:
    call = Arguments("cru.json.decode", given)
    try:
        value = decoded(call.take("text", OCTETS))
    except JsonInvalid as problem:
        call.refuse(str(problem))
    return LUA_NULL if value is None else value
