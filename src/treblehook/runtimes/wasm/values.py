"""How a component's values look in Python.

bool, integers, f32/f64, string        bool, int, float, str
char, enum                             str
list                                   list; a list<u8> is bytes
record                                 dict, its keys the names as in the WIT
tuple, flags                           tuple, frozenset of names
option                                 None or the value; where the value may itself be None, `Some`
result, variant                        `Ok` or `Err`; `Variant`
"""

from typing import Any, TypeAlias

from msgspec import Struct

Value: TypeAlias = Any
"""A value of one of the forms above; which one, only the function's type says."""


class Variant(Struct, frozen=True):
    """A case of a variant and what it carries; None where the case carries nothing."""

    case: str
    value: Value = None


class Ok(Struct, frozen=True):
    value: Value = None


class Err(Struct, frozen=True):
    value: Value = None


class Some(Struct, frozen=True):
    """What an option of an option holds: without it, two kinds of nothing would look alike."""

    value: Value
