"""The types of the component model, as values: what a function takes and gives back. Names of types do not count, names of fields do."""

from typing import Final, TypeAlias

from msgspec import Struct


class Primitive(Struct, frozen=True):
    """One of `PRIMITIVES`."""

    name: str


class ListType(Struct, frozen=True):
    element: "Type"


class Field(Struct, frozen=True):
    name: str
    type: "Type"


class RecordType(Struct, frozen=True):
    fields: tuple[Field, ...]


class TupleType(Struct, frozen=True):
    elements: tuple["Type", ...]


class Case(Struct, frozen=True):
    """A case of a variant; without a type it carries no value."""

    name: str
    type: "Type | None" = None


class VariantType(Struct, frozen=True):
    cases: tuple[Case, ...]


class EnumType(Struct, frozen=True):
    names: tuple[str, ...]


class FlagsType(Struct, frozen=True):
    names: tuple[str, ...]


class OptionType(Struct, frozen=True):
    payload: "Type"


class ResultType(Struct, frozen=True):
    ok: "Type | None" = None
    err: "Type | None" = None


class OpaqueType(Struct, frozen=True):
    """A type whose values cannot leave the component: a resource, a stream, a future."""

    what: str


Type: TypeAlias = Primitive | ListType | RecordType | TupleType | VariantType | EnumType | FlagsType | OptionType | ResultType | OpaqueType


class FunctionType(Struct, frozen=True):
    params: tuple[Field, ...]
    result: Type | None = None
    is_async: bool = False


PRIMITIVES: Final = ("bool", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64", "char", "string")

BOOL, S8, U8, S16, U16, S32, U32, S64, U64, F32, F64, CHAR, STRING = map(Primitive, PRIMITIVES)

INTEGERS: Final = {
    f"{sign}{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) if sign == "s" else (0, (1 << bits) - 1)
    for sign in "su"
    for bits in (8, 16, 32, 64)
}
"""The lowest and the highest value of every integer type."""


def show(type: Type | None) -> str:
    """A type as one would write it; what has names inside is only named by its kind."""
    match type:
        case None:
            return "nothing"
        case Primitive(name):
            return name
        case ListType(element):
            return f"list<{show(element)}>"
        case OptionType(payload):
            return f"option<{show(payload)}>"
        case ResultType(ok, err):
            return f"result<{'_' if ok is None else show(ok)}, {'_' if err is None else show(err)}>"
        case TupleType(elements):
            return f"tuple<{', '.join(map(show, elements))}>"
        case RecordType():
            return "a record"
        case VariantType():
            return "a variant"
        case EnumType():
            return "an enum"
        case FlagsType():
            return "flags"
        case OpaqueType(what):
            return what
