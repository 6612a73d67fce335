"""`transform_context` (crucible.md 3.5)."""

import pytest

from tests.support.crucible_rig import LuaRig, returns
from treblehook.lifecycle import (
    Block,
    ContextAssembled,
    Message,
    ToolCall,
)

CONTEXT = ContextAssembled(
    session="s1",
    model="m",
    messages=(
        Message("system", "notes", id="m0", tags=("precognition",)),
        Message("user", "hi", id="m1", source="pre_turn", hook="greeter"),
        Message("assistant", "let me see", id="m2", calls=(ToolCall("c1", "bash", {"command": "ls", "list": []}),), raw='{"signed":1}'),
        Message("tool", "no such file", id="m3", call_id="c1", tool="bash", is_error=True),
    ),
)


async def test_case_096_a_context_is_replaced_whole(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("transform_context", function(ctx, event) '
        'table.insert(event.messages, 1, {role = "system", content = "be brief"}) return {messages = event.messages} end)',
    )
    outcome = await rig.fire(CONTEXT)
    assert outcome.value.messages == (Message("system", "be brief"), *CONTEXT.messages)
    assert rig.lines == []


async def test_a_context_that_comes_back_as_it_was_is_the_same(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("transform_context", "event"))
    assert (await rig.fire(CONTEXT)).value.messages == CONTEXT.messages


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ('{{role = "wizard", content = "x"}}', "messages[1].role"),
        ('{{role = "user", content = 5}}', "messages[1].content"),
        ('{{role = "user"}}', "messages[1].content"),
        ('{{content = "x"}}', "messages[1].role"),
        ('{"x"}', "messages[1]"),
        ("{}", "messages"),
        ("5", "messages"),
        ("{x = 1}", "messages"),
        ('{{role = "user", content = "x", metadata = 5}}', "messages[1].metadata"),
        ('{{role = "user", content = "x", metadata = {tags = "a"}}}', "messages[1].metadata.tags"),
        ('{{role = "user", content = "x", metadata = {tags = {1}}}}', "messages[1].metadata.tags"),
        ('{{role = "user", content = "x", metadata = {success = 1}}}', "messages[1].metadata.success"),
        ('{{role = "user", content = "x", metadata = {tool_call_id = 1}}}', "messages[1].metadata.tool_call_id"),
        ('{{role = "user", content = "x", metadata = {token_estimate = "1"}}}', "messages[1].metadata.token_estimate"),
        ('{{role = "assistant", content = "x", metadata = {tool_calls = {{name = "bash"}}}}}', "messages[1].metadata.tool_calls[1]"),
        ('{{role = "assistant", content = "x", metadata = {tool_calls = 5}}}', "messages[1].metadata.tool_calls"),
    ],
)
async def test_a_context_with_anything_wrong_is_rejected_whole(rig: LuaRig, kind: str, messages: str, place: str) -> None:
    rig.load(kind, returns("transform_context", f"{{messages = {messages}}}"))
    assert (await rig.fire(CONTEXT)).value is CONTEXT
    (warning,) = rig.warnings
    assert f"`{place}`" in warning


async def test_a_message_whose_text_is_no_utf8_is_an_error(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("transform_context", r"{messages = {{role = 'user', content = '\xff'}}}"))
    assert (await rig.fire(CONTEXT)).value is CONTEXT
    assert len(rig.errors) == 1


async def test_a_changed_message_keeps_what_it_is_and_loses_the_providers_form(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("transform_context", function(ctx, event) local m = event.messages '
        'm[3].content = "short" m[2].content = "HI" return {messages = {m[2], m[3], m[4]}} end)',
    )
    user, reply, result = (await rig.fire(CONTEXT)).value.messages
    assert user == Message("user", "HI", id="m1", source="pre_turn", hook="greeter")
    assert (reply.text, reply.id, reply.calls, reply.raw) == ("short", "m2", CONTEXT.messages[2].calls, "")
    assert result == CONTEXT.messages[3]


async def test_a_message_without_metadata_is_a_new_one(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        'cru.on("transform_context", function(ctx, event) local kept = {} for i, m in ipairs(event.messages) do '
        "kept[i] = {role = m.role, content = m.content} end return {messages = kept} end)",
    )
    assert (await rig.fire(CONTEXT)).value.messages == tuple(Message(m.role, m.text) for m in CONTEXT.messages)


async def test_a_message_may_stand_in_the_list_twice_but_has_its_name_once(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("transform_context", "{messages = {event.messages[2], event.messages[2]}}"))
    first, second = (await rig.fire(CONTEXT)).value.messages
    assert (first.id, second.id, second.text) == ("m1", "", "hi")


async def test_a_new_result_is_named_after_its_call(rig: LuaRig, kind: str) -> None:
    rig.load(
        kind,
        returns(
            "transform_context",
            '{messages = {{role = "assistant", content = "", metadata = {tool_calls = {{id = "x", name = "dig", args = {}}}}}, '
            '{role = "tool", content = "ok", metadata = {tool_call_id = "x", success = true}}}}',
        ),
    )
    assert (await rig.fire(CONTEXT)).value.messages == (
        Message("assistant", "", calls=(ToolCall("x", "dig", {}),)),
        Message("tool", "ok", call_id="x", tool="dig"),
    )


async def test_a_context_can_end_the_turn(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("transform_context", '{cancel = true, reason = "too long"}'))
    assert (await rig.fire(CONTEXT)).blocked == Block("too long")


async def test_contexts_chain_from_the_session_to_the_plugins(rig: LuaRig) -> None:
    for kind, text in (("plugin", "P"), ("session", "S")):
        rig.load(
            kind,
            'cru.on("transform_context", function(ctx, event) '
            f'event.messages[#event.messages + 1] = {{role = "system", content = "{text}"}} return event end)',
        )
    assert [message.text for message in (await rig.fire(CONTEXT)).value.messages[-2:]] == ["S", "P"]
