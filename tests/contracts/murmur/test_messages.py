"""Messages out to a hook and back (murmur.md 3.6)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.messages import inward, outward
from treblehook.lifecycle import Message, ToolCall

texts = st.text(max_size=30)
names = st.text(min_size=1, max_size=10)
values = st.recursive(
    texts | st.integers(-(2**53), 2**53) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
inputs = st.dictionaries(texts, values, max_size=2)
ids = st.sampled_from(["", "msg_1", "msg_2"])
said = st.builds(Message, st.sampled_from(["system", "user"]), texts, id=ids, source_id=ids)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """A reply with calls, and all of their results."""
    wanted = draw(st.lists(st.tuples(names, names, inputs), max_size=3, unique_by=lambda call: call[0]))
    calls = tuple(ToolCall(*call) for call in wanted)
    results = [Message("tool", draw(texts), call_id=call.id, tool=call.name, is_error=draw(st.booleans())) for call in calls]
    return [Message("assistant", draw(texts), calls=calls, id=draw(ids)), *results]


conversations = st.lists(said.map(lambda message: [message]) | exchanges(), max_size=5).map(
    lambda parts: [one for part in parts for one in part]
)


@given(conversations)
def test_what_goes_out_comes_back_the_same(given: list[Message]) -> None:
    back = inward(outward(given), by=Binding.COMPACTION, hook="compact")

    # A call id may come again in a later reply, for another tool.
    assert [replace(message, tool="") for message in back] == [
        replace(message, source="on-compaction", hook="compact", tool="") for message in given
    ]


def one(role: str, content: str, **more: Any) -> tuple[Message, ...]:
    fields = {"id": None, "source-id": None, "inserted-by": None, **more}
    return inward([{"role": role, "content": content, **fields}], by=Binding.TASK_START, hook="memory")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3, {"type": "image"}]', "a\nb"),
        ('"said"', "said"),
        ('{"key": 1}', '{"key": 1}'),
        ("17", "17"),
        ("null", "null"),
        ("plain words", "plain words"),
        ("", ""),
        ("[" * 5000, "[" * 5000),
    ],
)
def test_content_is_a_json_text_or_else_a_text(content: str, text: str) -> None:
    (message,) = one("user", content)

    assert (message.role, message.text, message.source, message.hook) == ("user", text, "on-task-start", "memory")


@pytest.mark.parametrize(
    "content",
    [
        "plain",
        "[]",
        "{}",
        json.dumps({"__murmur_tool_msg__": False, "tool_call_id": "c"}),
        json.dumps({"__murmur_tool_msg__": 1, "tool_call_id": "c"}),
        json.dumps({"__murmur_tool_msg__": True}),
        json.dumps({"__murmur_tool_msg__": True, "tool_call_id": ""}),
        json.dumps({"__murmur_tool_msg__": True, "tool_call_id": 3}),
    ],
)
def test_a_tools_message_without_its_marker_and_its_call_is_dropped(content: str) -> None:
    assert one("tool", content) == ()


@pytest.mark.parametrize("body", ["it is dug", [{"type": "text", "text": "it is dug"}]])
def test_a_tools_message(body: Any) -> None:
    (message,) = one("tool", json.dumps({"__murmur_tool_msg__": True, "tool_call_id": "c", "is_error": True, "body": body}))

    assert (message.role, message.text, message.call_id, message.is_error) == ("tool", "it is dug", "c", True)


def test_a_result_learns_the_name_of_its_tool_from_the_call() -> None:
    asked = Message("assistant", "", calls=(ToolCall("c", "dig", {}),))
    back = inward(outward([asked, Message("tool", "dug", call_id="c")]), by=Binding.COMPACTION, hook="h")

    assert back[1].tool == "dig"


def test_names_are_kept_and_whose_message_it_is_only_the_host_says() -> None:
    (message,) = one("user", '"x"', **{"id": "msg_1", "source-id": "msg_0", "inserted-by": "replace-context"})

    assert (message.id, message.source_id, message.source) == ("msg_1", "msg_0", "on-task-start")
    assert outward([message])[0]["inserted-by"] == "seed-context"
    assert outward([Message("user", "x")])[0] == {
        "role": "user",
        "content": '[{"type":"text","text":"x"}]',
        "id": None,
        "source-id": None,
        "inserted-by": None,
    }


def test_an_unknown_role_is_a_users() -> None:
    (message,) = one("developer", "x")

    assert message.role == "user"


jsons = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text", "id", "name", "input", "body"]) | texts, inner),
)
contents = (
    texts
    | jsons.map(json.dumps)
    | st.sampled_from(['"\\ud800"', '{"a": 1e999}', "[NaN]", '[{"type": "tool_call", "id": "c", "name": "n", "input": 3}]'])
)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool", "", "x"]), contents)))
def test_whatever_a_hook_makes_of_a_message_is_read(given: list[tuple[str, str]]) -> None:
    records = [{"role": role, "content": content, "id": None, "source-id": None, "inserted-by": None} for role, content in given]

    back = inward(records, by=Binding.COMPACTION, hook="h")

    assert len(back) <= len(given)
    # It can go out again.
    outward(back)
