"""Calls whose ids a model repeats, and what a provider wants back with them."""

import json

import pytest

from tests.support.nest import KEEPS_STDIN, Nest, check_answered, says, unnamed
from treblehook.agent.models.model import ModelReply
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import PreToolCall, Rewrite, ToolCall


async def test_calls_with_the_same_id_are_kept_apart(nest: Nest) -> None:
    """A model that numbers its calls badly: each is asked about, run and answered for itself."""
    nest.hook(
        "pre_tool_use",
        "double",
        f"""{KEEPS_STDIN}tail -n 1 "$0.stdin" | python3 -c '
import json, sys
call = json.load(sys.stdin)["toolCall"]
print(json.dumps({{"power": "mutate", "input": {{"command": call["input"]["command"] + "; echo checked"}}}}))'""",
    )
    nest.recorder("post_tool_use", "after")
    calls = tuple(ToolCall("call_1", "bash", {"command": f"echo {word}"}) for word in ("one", "two", "three"))
    nest.replies.append(ModelReply("", calls, "tools", raw=json.dumps({"signed": True})))
    session = await nest.open()

    await session.prompt("go")

    assert [r["content"] for r in nest.ears.of("tool_result")] == ["one\nchecked\n", "two\nchecked\n", "three\nchecked\n"]
    _, reply, *results, _ = session.state.conversation.messages
    ids = [call.id for call in reply.calls]
    assert len(set(ids)) == 3
    assert ids[0] == "call_1"
    assert [call.input["command"] for call in reply.calls] == [f"echo {word}; echo checked" for word in ("one", "two", "three")]
    assert [(m.call_id, m.text.split()[0]) for m in results] == list(zip(ids, ("one", "two", "three"), strict=True))
    assert [payload["result"]["toolCallId"] for payload in nest.sent("after")] == ids
    check_answered(session.state.conversation.messages)
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert unnamed(again.state.conversation.messages) == unnamed(session.state.conversation.messages)


async def test_ids_that_come_again_in_the_next_reply_do_not_mix(nest: Nest) -> None:
    for word in ("one", "two"):
        nest.replies.append(ModelReply("", (ToolCall("call_1", "bash", {"command": f"echo {word}"}),), "tools"))
    nest.recorder("pre_tool_use")
    session = await nest.open()

    await session.prompt("go")

    assert [payload["toolCall"]["id"] for payload in nest.sent("pre_tool_use")] == ["call_1", "call_1"]
    messages = session.state.conversation.messages
    assert [m.calls[0].input["command"] for m in messages if m.calls] == ["echo one", "echo two"]
    check_answered(messages)
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert unnamed(again.state.conversation.messages) == unnamed(messages)


async def test_an_id_made_distinct_takes_no_other_calls_id(nest: Nest) -> None:
    calls = tuple(ToolCall(id, "bash", {"command": f"echo {n}"}) for n, id in enumerate(("a", "a", "a-2", "a")))
    nest.replies.append(ModelReply("", calls, "tools"))
    session = await nest.open()

    await session.prompt("go")

    messages = session.state.conversation.messages
    assert [call.id for call in messages[1].calls] == ["a", "a-3", "a-2", "a-4"]
    assert [m.text for m in messages if m.role == "tool"] == ["0\n", "1\n", "2\n", "3\n"]


@pytest.mark.parametrize("by", ["executable", "function"])
async def test_what_the_provider_wants_back_is_dropped_with_a_changed_input(nest: Nest, by: str) -> None:
    hooks = Hooks()
    if by == "executable":
        nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo changed"}}))
    else:
        hooks.on(PreToolCall)(lambda event: Rewrite(input={"command": "echo changed"}))
    reply = ModelReply("", (ToolCall("call_1", "bash", {"command": "echo asked"}),), "tools", raw="signed: echo asked")
    nest.replies.append(reply)
    session = await nest.open(hooks=hooks)

    await session.prompt("go")

    assert [message.raw for message in session.state.conversation.messages if message.calls] == [""]
    assert b"signed" not in nest.on_disk()


async def test_what_the_provider_wants_back_stays_where_the_input_came_out_the_same(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo asked"}}))
    reply = ModelReply("", (ToolCall("call_1", "bash", {"command": "echo asked"}),), "tools", raw="signed")
    nest.replies.append(reply)
    session = await nest.open()

    await session.prompt("go")
    await session.finish("detached")

    assert session.state.conversation.messages[1].raw == "signed"
    assert (await nest.open(resume=session.id)).state.conversation.messages[1].raw == "signed"
