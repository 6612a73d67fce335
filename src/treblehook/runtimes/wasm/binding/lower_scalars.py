"""How values without parts are written; a list<u8> is one of them, as it crosses in one piece."""

import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from treblehook.runtimes.wasm.binding.arena import Arena, Full
from treblehook.runtimes.wasm.binding.layout import PAYLOAD, VALUE, blank
from treblehook.runtimes.wasm.binding.misfit import Misfit, words
from treblehook.runtimes.wasm.types import INTEGERS, U8

Put: TypeAlias = Callable[[Any, Arena, int], None]
"""Writes a value's payload at a place that holds zeros. Raises `Misfit` and `Full`."""

_pair: Final = struct.Struct("<QQ").pack_into
_FORMATS: Final = {"s8": "b", "u8": "B", "s16": "h", "u16": "H", "s32": "i", "u32": "I", "s64": "q", "u64": "Q"}


def _string(value: Any, arena: Arena, at: int) -> None:
    if not isinstance(value, str):
        raise Misfit(value, "a str")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise Misfit(words("a str with a lone surrogate"), "text that has a UTF-8 form") from None
    length = len(data)
    start = arena.top
    end = start + length
    if end + 8 > arena.size:
        raise Full
    arena.memory[start:end] = data
    arena.top = end + 7 & -8
    _pair(arena.memory, at, length, arena.base + start)


def put_bytes(value: Any, arena: Arena, at: int) -> None:
    if not isinstance(value, (bytes, bytearray)):
        raise Misfit(value, "bytes")
    size = VALUE * len(value)
    start = arena.take(size)
    arena.memory[start : start + size] = blank(U8) * len(value)
    if value:  # a slice of nothing would be taken for one that changes the size
        arena.memory[start + PAYLOAD : start + size : VALUE] = value
    _pair(arena.memory, at, len(value), arena.base + start)


def _bool(value: Any, arena: Arena, at: int) -> None:
    if not isinstance(value, bool):
        raise Misfit(value, "a bool")
    arena.memory[at] = value


def _char(value: Any, arena: Arena, at: int) -> None:
    if not isinstance(value, str) or len(value) != 1 or 0xD800 <= ord(value) < 0xE000:
        raise Misfit(value, "one character")
    arena.memory[at : at + 4] = ord(value).to_bytes(4, "little")


def primitive(name: str) -> Put:
    """How a value of a primitive type is written."""
    if name in INTEGERS:
        return _integer(name)
    return {"bool": _bool, "char": _char, "string": _string}.get(name) or _float(name)


def _integer(name: str) -> Put:
    write = struct.Struct(f"<{_FORMATS[name]}").pack_into
    low, high = INTEGERS[name]

    def put(value: Any, arena: Arena, at: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Misfit(value, f"an int from {low} to {high}")
        write(arena.memory, at, value)

    return put


def _float(name: str) -> Put:
    write = struct.Struct("<f" if name == "f32" else "<d").pack_into

    def put(value: Any, arena: Arena, at: int) -> None:
        if not isinstance(value, float):
            raise Misfit(value, "a float")
        try:
            write(arena.memory, at, value)
        except OverflowError:
            raise Misfit(value, "a float that f32 can hold") from None

    return put
