"""The one check of what Lua hands to a `cru.*` function, so that every mistake reads alike.

A message names the function, the argument or option, what was found and what is allowed; the runtime puts the file and line of the
call in front. Arguments beyond the last one are ignored, as everywhere in Lua: `s:gsub(…)` as a last argument brings two values.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final, NoReturn, TypeVar, overload

from treblehook.contracts.crucible.library.kinds import Kind, Unfit
from treblehook.contracts.crucible.plain import what
from treblehook.runtimes.lua import LuaRaise

T = TypeVar("T")
D = TypeVar("D")
_ABSENT: Final = object()


class Options:
    """The named options of one call; all of them are known."""

    def __init__(self, function: str, given: dict[object, object]) -> None:
        self._function = function
        self._given = given

    @overload
    def read(self, name: str, kind: Kind[T]) -> T | None: ...
    @overload
    def read(self, name: str, kind: Kind[T], default: D) -> T | D: ...
    def read(self, name: str, kind: Kind[T], default: object = None) -> object:
        """One option, or `default` where it was not given. Raises `LuaRaise` for a value that does not fit."""
        value = self._given.get(name)
        return default if value is None else _fitting(self._function, f"the option `{name}`", kind, value)


class Arguments:
    """The positional arguments of one call of `function`, taken one after the other."""

    def __init__(self, function: str, given: Sequence[object]) -> None:
        self.function = function
        self._given = given
        self._taken = 0

    def take(self, name: str, kind: Kind[T]) -> T:
        """The next argument, which must be there. Raises `LuaRaise`."""
        return _fitting(self.function, f"argument {self._taken + 1} (`{name}`)", kind, self._next())

    @overload
    def may_take(self, name: str, kind: Kind[T]) -> T | None: ...
    @overload
    def may_take(self, name: str, kind: Kind[T], default: D) -> T | D: ...
    def may_take(self, name: str, kind: Kind[T], default: object = None) -> object:
        """The next argument, or `default` where it is nil. Raises `LuaRaise` for a value that does not fit."""
        value = self._next()
        return default if value is None else _fitting(self.function, f"argument {self._taken} (`{name}`)", kind, value)

    def options(self, *names: str, required: bool = False) -> Options:
        """The next argument as a table of options, of which only `names` are known. Raises `LuaRaise`."""
        value = self._next()
        place = f"argument {self._taken} (`options`)"
        if value is None and not required:
            value = {}
        if value == []:
            value = {}
        if not isinstance(value, dict):
            self.refuse(f"{place} is {what(value)}; allowed: a table with {', '.join(names)}")
        for name in value:
            if name not in names:
                self.refuse(_unknown(name, names))
        return Options(self.function, value)

    def refuse(self, problem: str) -> NoReturn:
        """Raise `LuaRaise` in the name of the function."""
        raise LuaRaise(f"{self.function}: {problem}")

    def _next(self) -> object:
        self._taken += 1
        return self._given[self._taken - 1] if self._taken <= len(self._given) else None


def _fitting(function: str, place: str, kind: Kind[T], value: object) -> T:
    try:
        return kind.read(value)
    except Unfit as unfit:
        raise LuaRaise(f"{function}: {place}{unfit.inside} is {what(unfit.value)}; allowed: {unfit.allowed or kind.words}") from None


def _unknown(name: object, names: tuple[str, ...]) -> str:
    close = get_close_matches(str(name), names, n=1)
    hint = f", did you mean `{close[0]}`?" if close else ";"
    return f"the option `{name}` is unknown{hint} allowed: {', '.join(names)}"
