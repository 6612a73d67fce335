"""How the library's C values lie in memory (`wasmtime_component_val_t`), and whether they still do.

A value has 32 bytes: its kind, and at 8 what it holds. A field of a record has 48: the name's length and address, then the value.
"""

import ctypes
import sys
from typing import Any, Final

from wasmtime import _ffi as ffi

from treblehook.runtimes.wasm.types import PRIMITIVES, EnumType, FlagsType, ListType, OptionType, RecordType, ResultType, TupleType, Type

VALUE: Final = 32
PAYLOAD: Final = 8
FIELD: Final = 48
FIELD_VALUE: Final = 16
NAME: Final = 16

PRIMITIVE_KINDS: Final = dict(
    zip(("bool", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64", "char", "string"), range(13), strict=True)
)
LIST, RECORD, TUPLE, VARIANT, ENUM, OPTION, RESULT, FLAGS = range(13, 21)


def kind(type: Type) -> int:
    """The number that says of a C value what it holds."""
    match type:
        case ListType():
            return LIST
        case RecordType():
            return RECORD
        case TupleType():
            return TUPLE
        case EnumType():
            return ENUM
        case OptionType():
            return OPTION
        case ResultType():
            return RESULT
        case FlagsType():
            return FLAGS
        case _:
            return PRIMITIVE_KINDS.get(getattr(type, "name", ""), VARIANT)


def blank(type: Type) -> bytes:
    """A value that so far has only its kind."""
    return bytes([kind(type)]).ljust(VALUE, b"\0")


def as_expected() -> bool:
    """Whether the installed library declares its values as they are read and written here."""
    # The declarations' types are those of values, not of the fields' descriptions that are asked for here.
    declared: Any = ffi
    try:
        kinds = [getattr(declared, f"WASMTIME_COMPONENT_{name.upper()}").value for name in (*PRIMITIVES, *_COMPOUND)]
        sizes = [ctypes.sizeof(getattr(declared, name)) for name in _SIZES]
        offsets = [getattr(getattr(declared, name), field).offset for name, field in _OFFSETS]
    except AttributeError:
        return False
    return (
        kinds == [*(PRIMITIVE_KINDS[name] for name in PRIMITIVES), *range(LIST, FLAGS + 1)]
        and sizes == list(_SIZES.values())
        and offsets == list(_OFFSETS.values())
        and ctypes.sizeof(ctypes.c_void_p) == ctypes.sizeof(ctypes.c_size_t) == 8
        and sys.byteorder == "little"
    )


_COMPOUND: Final = ("list", "record", "tuple", "variant", "enum", "option", "result", "flags")
_SIZES: Final = {"wasmtime_component_val_t": VALUE, "wasmtime_component_valrecord_entry_t": FIELD, "wasm_name_t": NAME}
_OFFSETS: Final = {
    ("wasmtime_component_val_t", "of"): PAYLOAD,
    ("wasmtime_component_valrecord_entry_t", "name"): 0,
    ("wasmtime_component_valrecord_entry_t", "val"): FIELD_VALUE,
    ("wasm_name_t", "size"): 0,
    ("wasm_name_t", "data"): 8,
    ("wasmtime_component_vallist_t", "size"): 0,
    ("wasmtime_component_vallist_t", "data"): 8,
    ("wasmtime_component_valrecord_t", "data"): 8,
    ("wasmtime_component_valtuple_t", "data"): 8,
    ("wasmtime_component_valflags_t", "data"): 8,
    ("wasmtime_component_valvariant_t", "discriminant"): 0,
    ("wasmtime_component_valvariant_t", "val"): NAME,
    ("wasmtime_component_valresult_t", "is_ok"): 0,
    ("wasmtime_component_valresult_t", "val"): 8,
}
