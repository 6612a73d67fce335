"""From the library's C values to Python: a closure for each type, which reads a value from bytes that were copied out.

What a value points to is copied in one piece before it is read. The addresses come from the library itself.
"""

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from treblehook.runtimes.wasm.binding.layout import FIELD, FIELD_VALUE, NAME, PAYLOAD, VALUE
from treblehook.runtimes.wasm.types import (
    Case,
    EnumType,
    FlagsType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    TupleType,
    Type,
    VariantType,
    show,
)
from treblehook.runtimes.wasm.values import Err, Ok, Some, Variant

Read: TypeAlias = Callable[[Any, int], Any]
"""Reads the payload at a place in bytes."""

_pair: Final = struct.Struct("<QQ").unpack_from
_one: Final = struct.Struct("<Q").unpack_from
_copy: Final = ctypes.string_at
_FORMATS: Final = {
    "bool": "?",
    "s8": "b",
    "u8": "B",
    "s16": "h",
    "u16": "H",
    "s32": "i",
    "u32": "I",
    "s64": "q",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
}


def read(type: Type) -> Read:
    """How a value of `type` is read."""
    match type:
        case Primitive("string"):
            return _string
        case Primitive("char"):
            return _char
        case Primitive(name):
            return _number(name)
        case ListType(Primitive("u8")):
            return _bytes
        case ListType(element):
            return _list(element)
        case RecordType():
            return _record(type)
        case TupleType(elements):
            return _tuple(elements)
        case VariantType(cases):
            return _variant(cases)
        case EnumType():
            return _string
        case FlagsType():
            return _flags
        case OptionType(payload):
            return _option(payload)
        case ResultType(ok, err):
            return _result(ok, err)
        case _:
            raise TypeError(show(type))


def _string(memory: Any, at: int) -> str:
    length, address = _pair(memory, at)
    return _copy(address, length).decode() if length else ""


def _char(memory: Any, at: int) -> str:
    return chr(int.from_bytes(memory[at : at + 4], "little"))


def _number(name: str) -> Read:
    unpack = struct.Struct(f"<{_FORMATS[name]}").unpack_from
    return lambda memory, at: unpack(memory, at)[0]


def _bytes(memory: Any, at: int) -> bytes:
    length, address = _pair(memory, at)
    return _copy(address, VALUE * length)[PAYLOAD::VALUE] if length else b""


def _list(element: Type) -> Read:
    read_element = read(element)

    def lift(memory: Any, at: int) -> list[Any]:
        length, address = _pair(memory, at)
        if not length:
            return []
        elements = _copy(address, VALUE * length)
        return [read_element(elements, place) for place in range(PAYLOAD, VALUE * length, VALUE)]

    return lift


def _record(type: RecordType) -> Read:
    size = FIELD * len(type.fields)
    parts = [(field.name, place * FIELD + FIELD_VALUE + PAYLOAD, read(field.type)) for place, field in enumerate(type.fields)]

    def lift(memory: Any, at: int) -> dict[str, Any]:
        fields = _copy(_one(memory, at + 8)[0], size)
        return {name: read_field(fields, offset) for name, offset, read_field in parts}

    return lift


def _tuple(elements: Sequence[Type]) -> Read:
    size = VALUE * len(elements)
    parts = [(place * VALUE + PAYLOAD, read(element)) for place, element in enumerate(elements)]

    def lift(memory: Any, at: int) -> tuple[Any, ...]:
        values = _copy(_one(memory, at + 8)[0], size)
        return tuple([read_element(values, offset) for offset, read_element in parts])

    return lift


def _variant(cases: Sequence[Case]) -> Read:
    known = {case.name.encode(): (case.name, _inner(case.type)) for case in cases}

    def lift(memory: Any, at: int) -> Variant:
        length, address = _pair(memory, at)
        name, read_inner = known[_copy(address, length)]
        return Variant(name, read_inner(memory, at + NAME))

    return lift


def _flags(memory: Any, at: int) -> frozenset[str]:
    length, address = _pair(memory, at)
    if not length:
        return frozenset()
    names = _copy(address, NAME * length)
    return frozenset(_string(names, place) for place in range(0, NAME * length, NAME))


def _option(payload: Type) -> Read:
    read_inner = _inner(payload)
    wrapped = isinstance(payload, OptionType)

    def lift(memory: Any, at: int) -> Any:
        if not _one(memory, at)[0]:
            return None
        value = read_inner(memory, at)
        return Some(value) if wrapped else value

    return lift


def _result(ok: Type | None, err: Type | None) -> Read:
    read_ok, read_err = _inner(ok), _inner(err)
    return lambda memory, at: Ok(read_ok(memory, at + 8)) if memory[at] else Err(read_err(memory, at + 8))


def _inner(type: Type | None) -> Read:
    """A value that is pointed to, or the absence of one."""
    if type is None:
        return lambda memory, at: None
    read_value = read(type)
    return lambda memory, at: read_value(_copy(_one(memory, at)[0], VALUE), PAYLOAD)
