"""From Python to the library's C values: a closure for each type, which writes a value's payload into an arena.

The kind of a value is written by who holds it, together with its neighbours' kinds, from bytes that were made beforehand.
"""

import ctypes
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from treblehook.runtimes.wasm.binding.arena import Arena
from treblehook.runtimes.wasm.binding.layout import FIELD, FIELD_VALUE, NAME, PAYLOAD, VALUE, blank
from treblehook.runtimes.wasm.binding.lower_scalars import Put, primitive, put_bytes
from treblehook.runtimes.wasm.binding.misfit import Misfit, words
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

_pair: Final = struct.Struct("<QQ").pack_into
_one: Final = struct.Struct("<Q").pack_into


class Lowering:
    """Closures for types, and the memory of the names that they point to: keep it as long as any of them."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[Any, int]] = {}

    def put(self, type: Type) -> Put:
        """How a value of `type` is written."""
        match type:
            case Primitive(name):
                return primitive(name)
            case ListType(Primitive("u8")):
                return put_bytes
            case ListType(element):
                return self._list(element)
            case RecordType():
                return self._record(type)
            case TupleType(elements):
                return self._tuple(elements)
            case VariantType(cases):
                return self._variant(cases)
            case EnumType(names):
                return self._enum(names)
            case FlagsType(names):
                return self._flags(names)
            case OptionType(payload):
                return self._option(payload)
            case ResultType(ok, err):
                return self._result(ok, err)
            case _:
                raise TypeError(show(type))

    def _name(self, name: str) -> tuple[int, int]:
        """Length and address of a name."""
        data = name.encode()
        if name not in self._names:
            memory = ctypes.create_string_buffer(data)
            self._names[name] = (memory, ctypes.addressof(memory))
        return len(data), self._names[name][1]

    def _list(self, element: Type) -> Put:
        empty = blank(element)
        put_element = self.put(element)

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, (list, tuple)):
                raise Misfit(value, "a list")
            start = arena.take(VALUE * len(value))
            arena.memory[start : start + VALUE * len(value)] = empty * len(value)
            where = start + PAYLOAD
            place = 0
            try:
                for place, item in enumerate(value):  # noqa: B007, the place is read where an element does not fit
                    put_element(item, arena, where)
                    where += VALUE
            except Misfit as misfit:
                misfit.inside(f"[{place}]")
                raise
            _pair(arena.memory, at, len(value), arena.base + start)

        return put

    def _record(self, type: RecordType) -> Put:
        template = b"".join(struct.pack("<QQ", *self._name(field.name)) + blank(field.type) for field in type.fields)
        parts = [(field.name, place * FIELD + FIELD_VALUE + PAYLOAD, self.put(field.type)) for place, field in enumerate(type.fields)]
        names = frozenset(field.name for field in type.fields)
        count, size = len(parts), len(template)
        allowed = f"a record with {', '.join(field.name for field in type.fields)}"

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, Mapping):
                raise Misfit(value, allowed)
            if len(value) != count or not names.issuperset(value):
                raise Misfit(words(_keys(names, value)), allowed)
            start = arena.take(size)
            arena.memory[start : start + size] = template
            name = ""
            try:
                for name, offset, put_field in parts:
                    put_field(value[name], arena, start + offset)
            except Misfit as misfit:
                misfit.inside(f".{name}")
                raise
            _pair(arena.memory, at, count, arena.base + start)

        return put

    def _tuple(self, elements: Sequence[Type]) -> Put:
        template = b"".join(map(blank, elements))
        parts = [(place * VALUE + PAYLOAD, self.put(element)) for place, element in enumerate(elements)]
        count, size = len(parts), len(template)

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, tuple) or len(value) != count:
                raise Misfit(value, f"a tuple of {count}")
            start = arena.take(size)
            arena.memory[start : start + size] = template
            place = 0
            try:
                for place, (item, (offset, put_item)) in enumerate(zip(value, parts, strict=True)):  # noqa: B007, as in a list
                    put_item(item, arena, start + offset)
            except Misfit as misfit:
                misfit.inside(f"[{place}]")
                raise
            _pair(arena.memory, at, count, arena.base + start)

        return put

    def _variant(self, cases: Sequence[Case]) -> Put:
        known = {case.name: (*self._name(case.name), self._inner(case.type)) for case in cases}
        allowed = f"a Variant of {', '.join(known)}"

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, Variant) or value.case not in known:
                found = words(f"Variant {value.case!r}") if isinstance(value, Variant) else value
                raise Misfit(found, allowed)
            length, address, put_inner = known[value.case]
            _pair(arena.memory, at, length, address)
            try:
                put_inner(value.value, arena, at + NAME)
            except Misfit as misfit:
                misfit.inside(f".{value.case}")
                raise

        return put

    def _enum(self, names: Sequence[str]) -> Put:
        known = {name: self._name(name) for name in names}
        allowed = f"one of {', '.join(names)}"

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, str) or value not in known:
                raise Misfit(value, allowed)
            length, address = known[value]
            _pair(arena.memory, at, length, address)

        return put

    def _flags(self, names: Sequence[str]) -> Put:
        known = {name: struct.pack("<QQ", *self._name(name)) for name in names}
        allowed = f"a set of {', '.join(names)}"

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, (set, frozenset)):
                raise Misfit(value, allowed)
            if not value <= known.keys():
                raise Misfit(words(f"flags {', '.join(sorted(map(repr, value)))}"), allowed)
            start = arena.take(NAME * len(value))
            arena.memory[start : start + NAME * len(value)] = b"".join(known[name] for name in value)
            _pair(arena.memory, at, len(value), arena.base + start)

        return put

    def _option(self, payload: Type) -> Put:
        put_inner = self._inner(payload)
        wrapped = isinstance(payload, OptionType)

        def put(value: Any, arena: Arena, at: int) -> None:
            if value is None:
                return
            if wrapped:
                if not isinstance(value, Some):
                    raise Misfit(value, "None or Some")
                value = value.value
            put_inner(value, arena, at)

        return put

    def _result(self, ok: Type | None, err: Type | None) -> Put:
        put_ok, put_err = self._inner(ok), self._inner(err)

        def put(value: Any, arena: Arena, at: int) -> None:
            if not isinstance(value, (Ok, Err)):
                raise Misfit(value, "Ok or Err")
            good = isinstance(value, Ok)
            arena.memory[at] = good
            try:
                (put_ok if good else put_err)(value.value, arena, at + 8)
            except Misfit as misfit:
                misfit.inside(".ok" if good else ".err")
                raise

        return put

    def _inner(self, type: Type | None) -> Put:
        """A value that is pointed to, or the absence of one."""
        if type is None:
            return _nothing
        empty = blank(type)
        put_value = self.put(type)

        def put(value: Any, arena: Arena, at: int) -> None:
            start = arena.take(VALUE)
            arena.memory[start : start + VALUE] = empty
            put_value(value, arena, start + PAYLOAD)
            _one(arena.memory, at, arena.base + start)

        return put


def _keys(names: frozenset[str], value: Mapping[Any, Any]) -> str:
    missing = sorted(names - value.keys())
    return f"one without {', '.join(missing)}" if missing else f"{', '.join(repr(key) for key in value if key not in names)} too"


def _nothing(value: Any, arena: Arena, at: int) -> None:
    if value is not None:
        raise Misfit(value, "None")
