"""The kinds of values that `cru.*` functions take from Lua."""

import math
import os
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from msgspec import Struct

from treblehook.contracts.crucible.plain import number_text, what
from treblehook.runtimes.lua import LuaFunction

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Unfit(Exception):
    """`value` is not of a kind. `inside` is the way to it from the value that was read (`[2]`, `.name`); `allowed` is for people."""

    def __init__(self, value: object, allowed: str = "", inside: str = "") -> None:
        super().__init__(f"{what(value)}{inside}")
        self.value = value
        self.allowed = allowed
        self.inside = inside


class Kind(Struct, Generic[T_co], frozen=True):
    """What a value must be, in `words`, and how it is read; `read` raises `Unfit`."""

    words: str
    read: Callable[[object], T_co]


def _text(value: object) -> str:
    # A number is as good as its text, as in Lua's own functions.
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    if not isinstance(value, str):
        raise Unfit(value)
    return value


def _word(value: object) -> str:
    if not _text(value):
        raise Unfit(value)
    return _text(value)


def _octets(value: object) -> bytes:
    return value if isinstance(value, bytes) else _text(value).encode()


def _system_text(value: object) -> str:
    text = os.fsdecode(_octets(value))
    if not text or "\0" in text:
        raise Unfit(value)
    return text


def _argument(value: object) -> str:
    text = os.fsdecode(_octets(value))
    if "\0" in text:
        raise Unfit(value)
    return text


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit(value)
    return value


def _number_of(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Unfit(value)
    return value


def _seconds(value: object) -> float:
    if (seconds := _number_of(value)) < 0:
        raise Unfit(value)
    return seconds


def _some_seconds(value: object) -> float:
    if (seconds := _number_of(value)) <= 0:
        raise Unfit(value)
    return seconds


def _count(value: object) -> int:
    number = _number_of(value)
    if number != int(number) or number < 0:
        raise Unfit(value)
    return int(number)


def _function(value: object) -> LuaFunction:
    if not isinstance(value, LuaFunction):
        raise Unfit(value)
    return value


def _table(value: object) -> dict[str, object]:
    if value == []:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Unfit(value)
    return value


def _something(value: object) -> object:
    if value is None:
        raise Unfit(value)
    return value


ANYTHING: Final = Kind("any value", lambda value: value)
SOMETHING: Final = Kind("any value but nil", _something)
TEXT: Final = Kind("a string", _text)
WORD: Final = Kind("a string that is not empty", _word)
OCTETS: Final = Kind("a string", _octets)
PATH: Final = Kind("a path, without NUL", _system_text)
ARGUMENT: Final = Kind("a string without NUL", _argument)
FLAG: Final = Kind("true or false", _flag)
NUMBER: Final = Kind("a finite number", _number_of)
SECONDS: Final = Kind("a number of seconds from 0 up", _seconds)
SOME_SECONDS: Final = Kind("a number of seconds above 0", _some_seconds)
COUNT: Final = Kind("a whole number from 0 up", _count)
FUNCTION: Final = Kind("a function", _function)
TABLE: Final = Kind("a table with names as keys", _table)


def list_of(kind: Kind[T]) -> Kind[list[T]]:
    """A list whose values are all of `kind`; an empty table is one."""

    def read(value: object) -> list[T]:
        if value == {}:
            return []
        if not isinstance(value, list):
            raise Unfit(value)
        return [_inside(kind, item, f"[{place}]") for place, item in enumerate(value, 1)]

    return Kind(f"a list, each value {kind.words}", read)


def map_of(kind: Kind[T]) -> Kind[dict[str, T]]:
    """A table from names to values of `kind`."""

    def read(value: object) -> dict[str, T]:
        return {name: _inside(kind, item, f".{name}") for name, item in _table(value).items()}

    return Kind(f"a table from names to values, each {kind.words}", read)


def choice(*words: str) -> Kind[str]:
    """One of a few words."""

    def read(value: object) -> str:
        if value not in words:
            raise Unfit(value)
        return str(value)

    return Kind(" or ".join(f"'{word}'" for word in words), read)


def _inside(kind: Kind[T], value: object, inside: str) -> T:
    try:
        return kind.read(value)
    except Unfit as unfit:
        raise Unfit(unfit.value, unfit.allowed or kind.words, inside + unfit.inside) from None
