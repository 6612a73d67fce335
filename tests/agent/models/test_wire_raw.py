"""What a provider wants back unchanged goes back, unless the message no longer says the same."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.agent.models.asking import ask, assistant, query
from tests.support.fake_model import provider_environment
from tests.support.raw_server import Exchange, RawServer
from treblehook.agent.models import Model, open_model
from treblehook.lifecycle import Message, ToolCall

THINKING = {"type": "thinking", "thinking": "Where would I bury it?", "signature": "c2lnbmVk"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "map.txt"}}


def event(kind: str, **content: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **content})}\n\n".encode()


STREAM = b"".join(
    [
        event(
            "message_start",
            message={
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 1, "output_tokens": 0},
            },
        ),
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
        event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": THINKING["thinking"]}),
        event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": THINKING["signature"]}),
        event("content_block_stop", index=0),
        event("content_block_start", index=1, content_block={"type": "text", "text": "Let me look."}),
        event("content_block_stop", index=1),
        event("content_block_start", index=2, content_block=CALL | {"input": {}}),
        event("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": json.dumps(CALL["input"])}),
        event("content_block_stop", index=2),
        event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 9}),
        event("message_stop"),
    ]
)


@asynccontextmanager
async def thinker(bodies: list[dict[str, Any]]) -> AsyncIterator[Model]:
    """A model that thinks, then calls `read`; what it is sent is kept in `bodies`."""

    async def answer(exchange: Exchange) -> None:
        bodies.append(json.loads(exchange.body))
        await exchange.start_stream()
        await exchange.send(STREAM)

    async with RawServer(answer) as server:
        yield open_model("anthropic:m", environ=provider_environment(server.url))


async def sent_back(change: dict[str, object]) -> list[dict[str, Any]]:
    """The blocks of the assistant's message in the second request, after a change of that message."""
    bodies: list[dict[str, Any]] = []
    async with thinker(bodies) as model:
        first = await ask(model, query("Where is it?"))
        kept = msgspec.structs.replace(assistant(first), **change)
        result = Message("tool", "an X", call_id="toolu_1", tool="read")
        await ask(model, query("Where is it?", kept, result))
    blocks: list[dict[str, Any]] = bodies[-1]["messages"][1]["content"]
    return blocks


async def test_thinking_is_not_text() -> None:
    heard: list[str] = []
    async with thinker([]) as model:
        reply = await model.reply(query("Where is it?"), heard.append)

    assert reply.text == "".join(heard) == "Let me look."
    assert reply.calls == (ToolCall("toolu_1", "read", {"path": "map.txt"}),)


async def test_thinking_goes_back_signed_and_in_its_place() -> None:
    assert await sent_back({}) == [THINKING, {"type": "text", "text": "Let me look."}, CALL]


async def test_without_the_original_the_message_is_rebuilt_from_text_and_calls() -> None:
    assert await sent_back({"raw": ""}) == [{"type": "text", "text": "Let me look."}, CALL]


@pytest.mark.parametrize("raw", ["nonsense", "[]", '[{"kind": "request", "parts": []}]', '{"version": 99}'])
async def test_an_original_that_cannot_be_read_is_not_needed(raw: str) -> None:
    assert await sent_back({"raw": raw}) == [{"type": "text", "text": "Let me look."}, CALL]


async def test_a_text_that_was_changed_does_not_come_back_through_the_original() -> None:
    assert await sent_back({"text": "[removed]"}) == [{"type": "text", "text": "[removed]"}, CALL]


async def test_an_input_that_was_changed_does_not_come_back_through_the_original() -> None:
    changed = (ToolCall("toolu_1", "read", {"path": "other.txt"}),)

    assert await sent_back({"calls": changed}) == [
        {"type": "text", "text": "Let me look."},
        CALL | {"input": {"path": "other.txt"}},
    ]
