"""Values on their way between Python and Lua: as a text that tells their form, and their leaves in order (see `prelude/values.lua`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.runtimes.lua.errors import LuaValueInvalid

DEEPEST = 100


class LuaNull:
    """The null inside of tables, where nil would leave a hole; `cru.json.null` and its like."""

    def __repr__(self) -> str:
        return "LUA_NULL"


class ArrayMark:
    """Provided as a value: a Lua function that marks a table as a sequence, so that an empty one becomes a list."""


LUA_NULL: Final = LuaNull()
ARRAY_MARK: Final = ArrayMark()


class LuaFunction:
    """A function of one VM, held there by a number for as long as this object lives."""

    __slots__ = ("__weakref__", "number", "released")

    def __init__(self, number: int, released: list[int]) -> None:
        self.number = number
        self.released = released

    def __del__(self) -> None:
        self.released.append(self.number)


LuaValue = None | bool | int | float | str | bytes | list[Any] | dict[Any, Any] | LuaFunction | LuaNull


class LuaTable(Struct, frozen=True):
    """A table with its keys as they are: strings (bytes where they are not UTF-8) and integers. `skipped` are the types of other keys,
    `invalid` the values that cannot cross, by key; `array`: it was marked as a sequence."""

    keys: dict[str | bytes | int, LuaValue]
    skipped: tuple[str, ...] = ()
    invalid: dict[str | bytes | int, LuaValueInvalid] = {}
    array: bool = False


class LuaReturn(Struct, frozen=True):
    """What a handler returned first. `kind` is Lua's type of it; `value` is set for booleans, numbers and strings, `table` for tables."""

    kind: str
    value: bool | int | float | str | bytes | None = None
    table: LuaTable | None = None


NOTHING: Final = LuaReturn("nil")


def text(value: bytes) -> str | bytes:
    """A Lua string as text where it is UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def flatten(values: tuple[object, ...], released: list[int]) -> tuple[bytes, list[Any]]:
    """The form and the leaves of values that go in; `released` marks functions of the VM. Raises `LuaValueInvalid`."""
    writer = Writer(released)
    for value in values:
        writer.put(value, 1, "")
    return "".join(writer.form).encode(), writer.leaves


class Writer:
    """Takes values apart."""

    def __init__(self, released: list[int]) -> None:
        self.form: list[str] = []
        self.leaves: list[Any] = []
        self._released = released

    def put(self, value: object, depth: int, path: str) -> None:
        """Adds one value. Raises `LuaValueInvalid`."""
        if isinstance(value, Mapping):
            self._mapping(value, self._deeper(depth, path), path)
        elif isinstance(value, list | tuple):
            self._sequence(value, self._deeper(depth, path), path)
        elif isinstance(value, LuaFunction):
            if value.released is not self._released:
                raise LuaValueInvalid(path, "a function of another VM")
            self.form.append("f")
            self.leaves.append(value.number)
        elif isinstance(value, LuaNull):
            self.form.append("0")
        elif isinstance(value, ArrayMark):
            self.form.append("a")
        else:
            self.form.append("s")
            self.leaves.append(_scalar(value, path))

    def _deeper(self, depth: int, path: str) -> int:
        if depth > DEEPEST:
            raise LuaValueInvalid(path, f"nested deeper than {DEEPEST} levels")
        return depth + 1

    def _mapping(self, table: Mapping[Any, object], depth: int, path: str) -> None:
        self.form.append("{")
        for key, item in table.items():
            if item is None:
                continue
            if isinstance(key, bool | float) or not isinstance(key, str | bytes | int):
                raise LuaValueInvalid(path, f"a mapping with a key of type {type(key).__name__}")
            self.leaves.append(_scalar(key, path))
            self.put(item, depth, f"{path}.{key!s}" if path else str(key))
        self.form.append("}")

    def _sequence(self, items: list[object] | tuple[object, ...], depth: int, path: str) -> None:
        self.form.append("[")
        for index, item in enumerate(items, 1):
            if item is None:
                self.form.append("0")
            else:
                self.put(item, depth, f"{path}[{index}]")
        self.form.append("]")


def _scalar(value: object, path: str) -> bool | int | float | bytes | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encoded(value)
    if isinstance(value, int):
        return integer(value, path)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise LuaValueInvalid(path, f"a Python {type(value).__name__}")


def encoded(value: str) -> bytes:
    """Text as Lua gets it: a lone surrogate, which UTF-8 cannot say, is replaced."""
    try:
        return value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def integer(value: int, path: str) -> int | float:
    """A whole number as Lua gets it: beyond 64 bits a float, as Lua reads such a numeral itself."""
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        raise LuaValueInvalid(path, "a whole number that no Lua number can hold") from None


class Reader:
    """Puts values that came out together again."""

    def __init__(self, form: bytes, leaves: Iterator[Any], released: list[int]) -> None:
        self._form = iter(form.decode("ascii"))
        self._leaves = leaves
        self._released = released
        self.invalid: list[LuaValueInvalid] = []

    def values(self) -> list[Any]:
        """All of them."""
        return [self._value(mark) for mark in self._form]

    def _key(self) -> Any:
        key = next(self._leaves)
        return text(key) if type(key) is bytes else key

    def _value(self, mark: str) -> Any:
        if mark == "s":
            value = next(self._leaves)
            return text(value) if type(value) is bytes else value
        if mark == "[":
            items = []
            while (mark := next(self._form)) != "]":
                items.append(self._value(mark))
            return items
        if mark == "{":
            table = {}
            while (mark := next(self._form)) != "}":
                key = self._key()
                table[key] = self._value(mark)
            return table
        if mark == "(":
            return self._raw()
        if mark == "f":
            return LuaFunction(next(self._leaves), self._released)
        if mark == "x":
            path, what = next(self._leaves).split(b"\0", 1)
            self.invalid.append(LuaValueInvalid(path.decode("utf-8", "replace"), what.decode("utf-8", "replace")))
        return None

    def _raw(self) -> LuaTable:
        keys: dict[str | bytes | int, LuaValue] = {}
        skipped: list[str] = []
        wrong: dict[str | bytes | int, LuaValueInvalid] = {}
        array = False
        while (mark := next(self._form)) != ")":
            if mark == "k":
                skipped.append(next(self._leaves).decode())
            elif mark == "a":
                array = True
            else:
                key = self._key()
                found = len(self.invalid)
                value = self._value(mark)
                if len(self.invalid) > found:
                    wrong[key] = self.invalid[found]
                    del self.invalid[found:]
                else:
                    keys[key] = value
        return LuaTable(keys, tuple(skipped), wrong, array)
