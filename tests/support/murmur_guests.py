"""Murmur hooks in component text: each function answers what a test says, or does something that no hook should."""

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from tests.support.component_text import MEMORY, component
from tests.support.guests import LIFECYCLE, hook_interfaces
from treblehook.runtimes.wasm import FunctionType
from treblehook.runtimes.wasm.types import (
    EnumType,
    Field,
    FlagsType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    Type,
    VariantType,
)

FUNCTIONS: Mapping[str, FunctionType] = hook_interfaces()[LIFECYCLE].functions
ARMS = ("none", "replace-context", "write-manifests", "artifact", "reopen-task", "seed-context", "deny")
_BASE = 4096


class Arm(Struct, frozen=True):
    """An answer: a text, for the arms with messages a list of (role, content), with manifests one of (name, content)."""

    name: str
    value: Any = None


class Errs(Struct, frozen=True):
    """An error as an answer."""

    text: str


NONE = Arm("none")
TRAP = "unreachable"
SPIN = "(loop $l (br $l)) unreachable"
GROW = "(loop $l (br_if $l (i32.ne (i32.const -1) (memory.grow (i32.const 16))))) unreachable"
RECURSE = "(call $deeper) unreachable"
BAD_DISCRIMINANT = "(i32.store8 (i32.const 64) (i32.const 0)) (i32.store8 (i32.const 68) (i32.const 7)) (i32.const 64)"
BAD_POINTER = """(i32.store8 (i32.const 64) (i32.const 0)) (i32.store8 (i32.const 68) (i32.const 6))
  (i32.store (i32.const 72) (i32.const -16)) (i32.store (i32.const 76) (i32.const 999)) (i32.const 64)"""
BAD_RESULT = "(i32.const -4)"
NOT_UTF8 = """(i32.store8 (i32.const 64) (i32.const 0)) (i32.store8 (i32.const 68) (i32.const 6)) (i32.store (i32.const 72) (i32.const 80))
  (i32.store (i32.const 76) (i32.const 2)) (i32.store (i32.const 80) (i32.const 0xfeff)) (i32.const 64)"""
DEFECTS = {
    "trap": TRAP,
    "spin": SPIN,
    "memory": GROW,
    "stack": RECURSE,
    "discriminant": BAD_DISCRIMINANT,
    "pointer": BAD_POINTER,
    "result": BAD_RESULT,
    "utf-8": NOT_UTF8,
}


def counted(then: str) -> str:
    """A body that calls `then` from its second call on and answers none before."""
    return (
        f"(global.set $calls (i32.add (global.get $calls) (i32.const 1))) (if (i32.gt_u (global.get $calls) (i32.const 1)) (then {then}))"
    )


def hook(
    bodies: Mapping[str, Arm | Errs | str] | None = None,
    *,
    without: Iterable[str] = (),
    types: Mapping[str, FunctionType] | None = None,
    interface: str = LIFECYCLE,
    before: str = "",
) -> bytes:
    """A hook whose functions answer none but for `bodies`, which are answers or the text of a body that leaves a pointer.

    `without` are functions that it does not have, `types` other types than the contract's, `before` what else its module has.
    """
    memory = _Memory()
    functions = {**{name: type for name, type in FUNCTIONS.items() if name not in tuple(without)}, **(types or {})}
    texts = []
    for name, type in functions.items():
        body = (bodies or {}).get(name, NONE)
        text = body if isinstance(body, str) else f"(i32.const {memory.answer(body)})"
        texts.append(f'(func (export "{name}") {_signature(type)} {text})')
        if type.result is not None:
            texts.append(f'(func (export "{name}-done") (param i32) (call $reset))')
    core = "\n".join(
        [MEMORY, "(global $calls (mut i32) (i32.const 0)) (func $deeper (call $deeper) (call $deeper))", before, *texts, memory.data()]
    )
    return component(core, functions, interface).encode()


class _Memory:
    """What answers are made of, at fixed places."""

    def __init__(self) -> None:
        self._image = bytearray()

    def answer(self, answer: Arm | Errs) -> int:
        if isinstance(answer, Errs):
            return self._put(struct.pack("<iII", 1, *self._text(answer.text)))
        return self._put(struct.pack("<iiII", 0, ARMS.index(answer.name), *self._value(answer)))

    def data(self) -> str:
        assert len(self._image) < 120_000
        text = "".join(f"\\{byte:02x}" for byte in self._image)
        return f'(data (i32.const {_BASE}) "{text}")'

    def _value(self, answer: Arm) -> tuple[int, int]:
        if answer.name == "none":
            return (0, 0)
        if isinstance(answer.value, str):
            return self._text(answer.value)
        padding = b"" if answer.name == "write-manifests" else bytes(44 - 16)
        items = [struct.pack("<IIII", *self._text(first), *self._text(second)) + padding for first, second in answer.value]
        return (self._put(b"".join(items)), len(items))

    def _text(self, text: str) -> tuple[int, int]:
        data = text.encode()
        return (self._put(data), len(data))

    def _put(self, data: bytes) -> int:
        self._image += bytes(-len(self._image) % 8)
        at = _BASE + len(self._image)
        self._image += data
        return at


def _signature(type: FunctionType) -> str:
    flat = [core for param in type.params for core in _flat(param.type)]
    params = flat if len(flat) <= 16 else ["i32"]
    result = "" if type.result is None else "(result i32)"
    return f"(param {' '.join(params)}) {result}"


def _flat(type: Type) -> list[str]:
    match type:
        case Primitive(name):
            return {"u64": ["i64"], "s64": ["i64"], "f64": ["f64"], "f32": ["f32"], "string": ["i32", "i32"]}.get(name, ["i32"])
        case ListType():
            return ["i32", "i32"]
        case RecordType(fields):
            return [core for field in fields for core in _flat(field.type)]
        case OptionType(payload):
            return ["i32", *_flat(payload)]
        case EnumType() | FlagsType():
            return ["i32"]
        case _:
            raise TypeError(type)


def older(name: str) -> FunctionType:
    """The function `name` as it was before `deny`: its answer has six cases."""
    type = FUNCTIONS[name]
    assert isinstance(type.result, ResultType)
    assert isinstance(type.result.ok, VariantType)
    return FunctionType(type.params, ResultType(VariantType(type.result.ok.cases[:6]), type.result.err))


def narrower(name: str) -> FunctionType:
    """The function `name` with an event that has one field less."""
    type = FUNCTIONS[name]
    (event,) = type.params
    assert isinstance(event.type, RecordType)
    return FunctionType((Field(event.name, RecordType(event.type.fields[:-1])),), type.result)
