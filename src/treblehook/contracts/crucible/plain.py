"""Lua values as plain ones: what JSON can say, and nothing else (crucible.md 4.4)."""

import math
from typing import Any

import msgspec

from treblehook.runtimes.lua import LuaFunction, LuaTable


class ReturnInvalid(Exception):
    """What a handler returned cannot be used; the message says what and where."""


def what(value: object) -> str:
    """A Lua value as a message names it."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {number_text(value)}"
        case str():
            return f"the string {value[:60]!r}{'…' if len(value) > 60 else ''}"
        case bytes():
            return "a string that is not UTF-8"
        case LuaFunction():
            return "a function"
        case dict() | list() | LuaTable():
            return "a table"
    return f"a {type(value).__name__}"


def is_true(value: object) -> bool:
    """Whether a value is true as Lua has it: everything but nil and false."""
    return value is not None and value is not False


def number_text(value: float) -> str:
    """A number as Lua writes it."""
    return str(value) if isinstance(value, int) else f"{value:.14g}"


def plain(value: object, where: str) -> Any:
    """`value` with every key a string; raises `ReturnInvalid` for what JSON has no form for. `where` is the way to it (`args.x`).

    Most values are as they should be, and are given back as they are.
    """
    return value if _is_plain(value) else _made_plain(value, where)


def _is_plain(value: object) -> bool:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, float) and math.isfinite(value)


def _made_plain(value: object, where: str) -> Any:
    match value:
        case dict():
            return {_key(key, where): _made_plain(item, f"{where}.{key}") for key, item in value.items()}
        case list():
            return [_made_plain(item, f"{where}[{place}]") for place, item in enumerate(value, 1)]
        case float() if not math.isfinite(value):
            raise ReturnInvalid(f"returned {number_text(value)} at `{where}`, which JSON has no form for")
        case None | bool() | int() | str() | float():
            return value
    raise ReturnInvalid(f"returned {what(value)} at `{where}`, which cannot be passed on")


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int):
        return str(key)
    raise ReturnInvalid(f"returned a table at `{where}` with {what(key)} as a key")


def compact_json(value: object, where: str) -> str:
    """`value` as JSON text; raises `ReturnInvalid`."""
    return msgspec.json.encode(plain(value, where)).decode()
