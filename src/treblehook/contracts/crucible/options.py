"""The options of a registration: `pattern` and `priority` (crucible.md 2.4, 2.5). What is wrong raises, what is odd warns."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from treblehook.contracts.crucible.names import nearest
from treblehook.contracts.crucible.plain import what
from treblehook.runtimes.lua import LuaRaise, LuaTable

PRIORITY: Final = 100
_INT64: Final = range(-(2**63), 2**63)


class Options(Struct, frozen=True):
    """How a function is bound; without a pattern it is asked about everything."""

    pattern: str | None = None
    priority: int = PRIORITY


def read_options(function: str, given: LuaTable, warn: Callable[[str], None]) -> Options:
    """The options that were given to `function`. Raises `LuaRaise` for one of the wrong type; unknown ones warn."""
    for key in (*given.keys, *given.invalid):
        if key not in ("pattern", "priority"):
            warn(unknown_option(function, key, ("pattern", "priority")))
        elif given.keys.get(key) is None:
            # An option that is there and says nothing must not widen what the handler is asked about.
            found = given.invalid[key].what if key in given.invalid else "null"
            raise LuaRaise(f"{function}: the option `{key}` is {found}; leave it out, or give it a value")
    return Options(_pattern(function, given.keys.get("pattern")), _priority(function, given.keys.get("priority")))


def unknown_option(function: str, key: object, known: tuple[str, ...]) -> str:
    """What is told of an option that nobody reads."""
    meant = f", did you mean `{nearest(key, known)}`?" if isinstance(key, str) else f"; options are {', '.join(known)}"
    return f"{function}: the option `{key}` is unknown and has no effect{meant}"


def _pattern(function: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise LuaRaise(f"{function}: the option `pattern` is {what(value)}; a string is needed")


def _priority(function: str, value: object) -> int:
    if value is None:
        return PRIORITY
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value in _INT64:
        return value
    raise LuaRaise(f"{function}: the option `priority` is {what(value)}; a whole number is needed")
