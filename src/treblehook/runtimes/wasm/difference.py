"""Where two types differ. Only without a difference is an answer believed: a variant with fewer cases would read like a clean pass."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from treblehook.runtimes.wasm.types import (
    Case,
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
    show,
)

_LONGEST: Final = 300


class Difference(Struct, frozen=True):
    """`where` in the type (`result.ok`, `event.argv[]`), and `what` is different there."""

    where: str
    what: str


def difference(expected: FunctionType, found: FunctionType) -> Difference | None:
    """The first difference between two functions; their parameters' names do not count."""
    if expected.is_async != found.is_async:
        return Difference("it", "is async" if found.is_async else "is not async")
    if len(expected.params) != len(found.params):
        return Difference("it", f"takes {len(found.params)} arguments, expected are {len(expected.params)}")
    pairs = [(param.name, param.type, other.type) for param, other in zip(expected.params, found.params, strict=True)]
    for where, ours, theirs in [*pairs, ("result", expected.result, found.result)]:
        for different in _optional(where, ours, theirs):
            return Difference(_cut(different.where), _cut(different.what))
    return None


def _cut(text: str) -> str:
    """Names in a component may be long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _optional(where: str, expected: Type | None, found: Type | None) -> Iterator[Difference]:
    if expected is None or found is None:
        if expected is not found:
            yield Difference(where, f"is {show(found)}, expected is {show(expected)}")
    else:
        yield from _types(where, expected, found)


def _types(where: str, expected: Type, found: Type) -> Iterator[Difference]:
    match expected, found:
        case (Primitive(), Primitive()) if expected == found:
            pass
        case (ListType(ours), ListType(theirs)):
            yield from _types(f"{where}[]", ours, theirs)
        case (OptionType(ours), OptionType(theirs)):
            yield from _types(f"{where}?", ours, theirs)
        case (ResultType(), ResultType()):
            yield from _optional(f"{where}.ok", expected.ok, found.ok)
            yield from _optional(f"{where}.err", expected.err, found.err)
        case (TupleType(some), TupleType(others)) if len(some) == len(others):
            for place, (ours, theirs) in enumerate(zip(some, others, strict=True)):
                yield from _types(f"{where}.{place}", ours, theirs)
        case (RecordType(some), RecordType(others)):
            yield from _members(where, "field", some, others)
        case (VariantType(some), VariantType(others)):
            yield from _members(where, "case", some, others)
        case (EnumType(some), EnumType(others)):
            yield from _names(where, "case", some, others)
        case (FlagsType(some), FlagsType(others)):
            yield from _names(where, "flag", some, others)
        case _:
            yield Difference(where, f"is {show(found)}, expected is {show(expected)}")


def _members(where: str, kind: str, expected: Sequence[Field | Case], found: Sequence[Field | Case]) -> Iterator[Difference]:
    yield from _names(where, kind, [member.name for member in expected], [member.name for member in found])
    for ours, theirs in zip(expected, found, strict=False):
        yield from _optional(f"{where}.{ours.name}", ours.type, theirs.type)


def _names(where: str, kind: str, expected: Sequence[str], found: Sequence[str]) -> Iterator[Difference]:
    if missing := [name for name in expected if name not in found]:
        yield Difference(where, f"has no {kind} {', '.join(missing)}")
    if extra := [name for name in found if name not in expected]:
        yield Difference(where, f"has a {kind} {', '.join(extra)} that is not expected")
    if list(expected) != list(found):
        yield Difference(where, f"has its {kind}s in the order {', '.join(found)}, expected is {', '.join(expected)}")
