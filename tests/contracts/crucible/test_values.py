"""Values on their way from a payload through Lua and back into a decision (crucible.md 4.4, 4.5)."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.messages import messages_of, table_of
from treblehook.contracts.crucible.plain import ReturnInvalid, plain
from treblehook.lifecycle import ContextAssembled, Message, PreToolCall, ToolCall

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
JSON = st.recursive(
    st.one_of(st.booleans(), NUMBERS, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=20,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=5)
CALLS = st.builds(ToolCall, TEXT, TEXT, OBJECTS)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    TEXT,
    id=st.uuids().map(str),
    source=TEXT,
    hook=TEXT,
    tags=st.lists(TEXT, max_size=2).map(tuple),
    raw=TEXT,
)

REPLIES = st.builds(Message, st.just("assistant"), TEXT, id=st.uuids().map(str), calls=st.lists(CALLS, max_size=2).map(tuple), raw=TEXT)


@pytest.fixture(scope="module")
def echo() -> Iterator[LuaRig]:
    """Handlers that give back what they were given."""
    with TemporaryDirectory() as name:
        rig = LuaRig(Path(name))
        rig.load("session", 'cru.on("pre_tool_call", function(ctx, event) return {args = event.args} end)')
        rig.load("plugin", 'cru.on("transform_context", function(ctx, event) return event end)')
        yield rig
        rig.close()


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down: 1 is not 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(arguments=OBJECTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_arguments_come_back_as_they_went(echo: LuaRig, arguments: dict[str, Any]) -> None:
    outcome = await echo.fire(PreToolCall(session="s1", call=ToolCall("c1", "bash", arguments)))
    assert outcome.blocked is None
    assert same(outcome.value.call.input, arguments)


@given(messages=st.lists(st.one_of(MESSAGES, REPLIES), min_size=1, max_size=4).map(tuple))
async def test_a_context_comes_back_as_it_went(echo: LuaRig, messages: tuple[Message, ...]) -> None:
    outcome = await echo.fire(ContextAssembled(session="s1", messages=messages))
    assert outcome.value.messages == messages
    assert not echo.warnings


@given(messages=st.lists(MESSAGES, min_size=1, max_size=4).map(tuple))
def test_messages_and_tables_are_inverse(messages: tuple[Message, ...]) -> None:
    assert messages_of([table_of(message) for message in messages], messages) == messages


@given(value=JSON)
def test_what_json_can_say_is_plain(value: Any) -> None:
    assert same(plain(value, "args"), value)


@given(value=st.dictionaries(st.one_of(st.integers(-9, 9), TEXT), JSON, max_size=4))
def test_keys_become_strings(value: dict[Any, Any]) -> None:
    assert plain(value, "args") == {str(key): item for key, item in value.items()}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"x": b"\xff"}, "`args.x`"),
        ({"x": {"y": [1, {"z": float("nan")}]}}, "`args.x.y[2].z`"),
        ([float("inf")], "`args[1]`"),
        ({b"\xff": 1}, "`args`"),
        (object(), "`args`"),
    ],
)
def test_what_json_cannot_say_is_told_with_its_place(value: Any, where: str) -> None:
    with pytest.raises(ReturnInvalid, match=re.escape(where)):
        plain(value, "args")
