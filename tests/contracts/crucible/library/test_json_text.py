"""What JSON becomes in Lua and back, and what is refused with its place."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.contracts.crucible.library.json_text import DEPTH, JsonInvalid, decoded, encoded

_SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(_VALUES)
def test_what_is_encoded_is_decoded_to_the_same(value: object) -> None:
    assert decoded(encoded(value)) == value


@given(_VALUES)
def test_what_another_library_writes_is_read(value: object) -> None:
    assert decoded(json.dumps(value).encode()) == value


@given(st.binary())
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(JsonInvalid):
        decoded(text)


def test_null_is_left_out_of_objects_and_kept_in_lists() -> None:
    assert decoded(b'{"a":null,"b":[1,null]}') == {"b": [1, None]}


def test_the_last_of_two_members_counts() -> None:
    assert decoded(b'{"a":1,"a":2}') == {"a": 2}


def test_integers_and_floats_stay_apart() -> None:
    whole, fraction = decoded(b"[1,1.0]")  # type: ignore[misc]  # a list of two, by the text above
    assert (type(whole), type(fraction)) == (int, float)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "truncated"),
        (b'{"a" 1}', "byte 5"),
        (b"NaN", "byte 0"),
        (b"[Infinity]", "byte 1"),
        (b'{"id":[1,18446744073709551616]}', "18446744073709551616 at `id[2]`"),
        (b"1" + b"0" * 5000, ""),
        (b"[1e999]", "out of range"),
        (b'"\xff"', "UTF-8"),
        (b"[" * 200 + b"]" * 200, f"deeper than {DEPTH}"),
        (b"[" * 5000, f"deeper than {DEPTH}"),
        (b"[1] x", "byte 5"),
    ],
)
def test_a_text_that_lua_cannot_hold_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(JsonInvalid) as caught:
        decoded(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, math.nan]}, "a NaN at `a[2]`"),
        ([math.inf], "infinite number at `[1]`"),
        ({"a": {"b": b"\xff"}}, "the string at `a.b` is not UTF-8"),
        ({"a": {1.5: 1}}, "the table at `a` has a key"),
        ({"a": object()}, "`a`"),
    ],
)
def test_a_value_without_json_is_refused(value: object, said: str) -> None:
    with pytest.raises(JsonInvalid) as caught:
        encoded(value)
    assert said in str(caught.value)


def test_members_are_sorted_and_integer_keys_become_names() -> None:
    assert encoded({"b": 1, 7: 2, "a": []}) == b'{"7":2,"a":[],"b":1}'


def test_a_value_that_nests_too_deep_is_refused() -> None:
    value: list[object] = []
    for _ in range(DEPTH + 1):
        value = [value]
    with pytest.raises(JsonInvalid, match="deeper"):
        encoded(value)
