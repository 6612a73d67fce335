"""Component text (WAT) for tests: types as text, a core module behind typed functions, and guests that answer with what they got."""

from collections.abc import Iterable, Mapping

from wasmtime import wat2wasm

from treblehook.runtimes.wasm.types import (
    U64,
    EnumType,
    Field,
    FlagsType,
    FunctionType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    TupleType,
    Type,
    VariantType,
)

MEMORY = """
(memory (export "memory") 4)
(global $next (mut i32) (i32.const 131072))
(func (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1))))
  (local.set $at (i32.and (local.get $at) (i32.sub (i32.const 0) (local.get $align))))
  (global.set $next (i32.add (local.get $at) (local.get $size)))
  (block $enough
    (br_if $enough (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
    (br_if $enough (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536))))))
    unreachable)
  (memory.copy (local.get $at) (local.get $old) (local.get $had))
  (local.get $at))
(func $reset (global.set $next (i32.const 131072)))
"""
"""What a core module needs to be handed strings; below 128 KiB its memory is its own."""

PADDING = tuple(range(17))
"""Values that make arguments too many for registers, so that any type crosses in memory and a guest needs to know no types."""


class Types:
    """The text of types. Those that must have a name are to be defined in front of what uses them, as the component's own or as an
    imported interface's."""

    def __init__(self) -> None:
        self._bodies: list[str] = []
        self._known: dict[Type, str] = {}

    def own(self) -> list[str]:
        """Definitions, exported."""
        return [f'(type $t{at} {body}) (export $e{at} "t{at}" (type $t{at}))' for at, body in enumerate(self._bodies)]

    def imported(self) -> list[str]:
        """Definitions within the type of an imported instance."""
        return [f'(type $t{at} {body}) (export "t{at}" (type $e{at} (eq $t{at})))' for at, body in enumerate(self._bodies)]

    def aliases(self, instance: str) -> list[str]:
        """What was imported, under the same names."""
        return [f'(alias export {instance} "t{at}" (type $e{at}))' for at in range(len(self._bodies))]

    def text(self, type: Type) -> str:
        match type:
            case Primitive(name):
                return name
            case ListType(element):
                return f"(list {self.text(element)})"
            case OptionType(payload):
                return f"(option {self.text(payload)})"
            case ResultType(ok, err):
                inner = ("" if ok is None else f" {self.text(ok)}") + ("" if err is None else f" (error {self.text(err)})")
                return f"(result{inner})"
            case TupleType(elements):
                return f"(tuple {' '.join(map(self.text, elements))})"
            case _:
                return self._name(type)

    def function(self, type: FunctionType) -> str:
        params = " ".join(f'(param "{param.name}" {self.text(param.type)})' for param in type.params)
        return params if type.result is None else f"{params} (result {self.text(type.result)})"

    def _name(self, type: Type) -> str:
        if type not in self._known:
            body = self._body(type)
            self._known[type] = f"$e{len(self._bodies)}"
            self._bodies.append(body)
        return self._known[type]

    def _body(self, type: Type) -> str:
        match type:
            case RecordType(fields):
                return f"(record {' '.join(self._member('field', field.name, field.type) for field in fields)})"
            case VariantType(cases):
                return f"(variant {' '.join(self._member('case', case.name, case.type) for case in cases)})"
            case EnumType(names):
                return f"(enum {_quoted(names)})"
            case FlagsType(names):
                return f"(flags {_quoted(names)})"
            case _:
                raise TypeError(type)

    def _member(self, kind: str, name: str, type: Type | None) -> str:
        return f'({kind} "{name}")' if type is None else f'({kind} "{name}" {self.text(type)})'


def _quoted(names: Iterable[str]) -> str:
    return " ".join(f'"{name}"' for name in names)


def component(core: str, functions: Mapping[str, FunctionType], interface: str | None = None) -> str:
    """A component whose functions are those of the same names of a core module, of which the fields are given.

    A function `f` may have an `f-done` beside it, which is called when its answer has been read.
    """
    types = Types()
    lifted = []
    for name, type in functions.items():
        text = types.function(type)
        done = f'(post-return (core func $i "{name}-done"))' if f'"{name}-done"' in core else ""
        options = f'(memory (core memory $i "memory")) (realloc (core func $i "cabi_realloc")) {done}'
        lifted.append(f'(func ${name} {text} (canon lift (core func $i "{name}") {options}))')
    exports = [f'(export "{name}" (func ${name}))' for name in functions]
    if interface is not None:
        exports = [f"(instance $x {' '.join(exports)})", f'(export "{interface}" (instance $x))']
    return "\n".join(
        ["(component", f"(core module $m {core})", "(core instance $i (instantiate $m))", *types.own(), *lifted, *exports, ")"]
    )


def wrapped(module: bytes, functions: Mapping[str, FunctionType], interface: str) -> bytes:
    """A component of a core module that is there as bytes: the text of one around an empty module, and then the module in its place."""
    shell = bytes(wat2wasm(component("", functions, interface)))
    at = 8
    while shell[at] != _CORE_MODULE:
        size, start = _leb(shell, at + 1)
        at = start + size
    size, start = _leb(shell, at + 1)
    return shell[:at] + bytes([_CORE_MODULE]) + _to_leb(len(module)) + module + shell[start + size :]


_CORE_MODULE = 1
"""The number of the section that holds a core module."""


def _leb(data: bytes, at: int) -> tuple[int, int]:
    """A number of the binary format, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _to_leb(value: int) -> bytes:
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def padded(type: Type) -> FunctionType:
    """Takes a value of `type` and gives it back, both with padding."""
    whole = TupleType((type, *(U64,) * len(PADDING)))
    return FunctionType((Field("value", whole),), whole)


def echo(type: Type) -> str:
    """A component whose `echo` is of the type `padded(type)`."""
    core = MEMORY + '(func (export "echo") (param i32) (result i32) (local.get 0)) (func (export "echo-done") (param i32) (call $reset))'
    return component(core, {"echo": padded(type)})


def forwarding(type: Type, interface: str) -> str:
    """A component whose `echo`, of the type `padded(type)`, hands its argument to the `echo` of an interface that it imports."""
    types = Types()
    text = types.function(padded(type))
    options = '(memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))'
    return "\n".join(
        [
            "(component",
            f'(import "{interface}" (instance $host',
            *types.imported(),
            f'(export "echo" (func {text}))))',
            *types.aliases("$host"),
            f'(core module $memory {MEMORY} (func (export "reset") (call $reset)))',
            "(core instance $memory (instantiate $memory))",
            f'(core func $lowered (canon lower (func $host "echo") {options}))',
            """(core module $m
                 (import "host" "echo" (func $host (param i32 i32)))
                 (import "memory" "reset" (func $reset))
                 (func (export "echo") (param i32) (result i32) (call $host (local.get 0) (i32.const 1024)) (i32.const 1024))
                 (func (export "echo-done") (param i32) (call $reset)))""",
            """(core instance $i (instantiate $m
                 (with "memory" (instance $memory)) (with "host" (instance (export "echo" (func $lowered))))))""",
            f'(func $echo {text} (canon lift (core func $i "echo") {options} (post-return (core func $i "echo-done"))))',
            '(export "echo" (func $echo))',
            ")",
        ]
    )
