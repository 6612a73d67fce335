"""A record with a part of every kind of type, and a value of it."""

from treblehook.runtimes.wasm.types import (
    BOOL,
    CHAR,
    F32,
    STRING,
    U8,
    U32,
    Case,
    EnumType,
    Field,
    FlagsType,
    ListType,
    OptionType,
    RecordType,
    ResultType,
    TupleType,
    VariantType,
)
from treblehook.runtimes.wasm.values import Ok, Variant

EVENT = RecordType(
    (
        Field("name", STRING),
        Field("argv", ListType(STRING)),
        Field("mode", EnumType(("fast", "slow"))),
        Field("marks", FlagsType(("red",))),
        Field("size", U32),
        Field("where", OptionType(OptionType(CHAR))),
        Field("then", VariantType((Case("stop"), Case("go", U8)))),
        Field("both", ResultType(F32, BOOL)),
        Field("pair", TupleType((U8, U8))),
        Field("raw", ListType(U8)),
    )
)
FINE = {
    "name": "x",
    "argv": ["a"],
    "mode": "fast",
    "marks": frozenset(),
    "size": 1,
    "where": None,
    "then": Variant("stop"),
    "both": Ok(1.5),
    "pair": (1, 2),
    "raw": b"",
}
