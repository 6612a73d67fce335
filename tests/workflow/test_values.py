"""JSON as the only form in which a run keeps values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.transcript.records import encode_record
from treblehook.workflow import WorkflowError
from treblehook.workflow.values import digest, json_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20)


@given(VALUES)
def test_what_is_json_is_kept_as_it_is(value: Any) -> None:
    copy = json_value(value, "it")

    assert copy == value
    assert json.loads(encode_record({"result": copy}))["result"] == value


@given(st.dictionaries(TEXTS, VALUES, min_size=2, max_size=5))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert digest(value) == digest(dict(reversed(value.items())))


def test_digests_tell_values_apart() -> None:
    values = [None, False, 0, "", "0", [], {}, [0], ["0"], [[]], {"a": 1}, {"a": "1"}, [1, 2], [2, 1], [12]]

    assert len({digest(value) for value in values}) == len(values)


def test_a_copy_is_a_copy() -> None:
    value = {"a": [1]}
    json_value(value, "it")["a"].append(2)

    assert value == {"a": [1]}


def test_a_loop_is_told() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(WorkflowError, match="it is not JSON") as error:
        json_value(value, "it")
    assert error.value.kind == "serialize"
