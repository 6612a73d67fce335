"""A resumed session: the model is sent what it was sent before, to the letter."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_run import calls, only
from tests.support.fake_model import FakeModel, provider_environment
from tests.support.provider_stage import ProviderStage
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, call_stream, text_stream


def messages(word: str, body: dict[str, Any]) -> list[Any]:
    """The conversation of a request as it stands there, but for the marks of what may be cached, which move on."""
    found = body[{"google": "contents", "openai-responses": "input"}.get(word, "messages")]
    return [json.loads(json.dumps(message), object_hook=without_mark) for message in found]


def without_mark(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != "cache_control"}


def test_a_resumed_session_sends_the_same_conversation(stage: ProviderStage) -> None:
    stage.home.hook("session_start", "crow", 'cat >/dev/null; echo \'{"power":"observe"}\'')
    stage.home.hook("pre_turn", "remember", 'cat >/dev/null; echo \'{"power":"mutate","context":"under a palm"}\'')
    stage.plays(calls("echo one", "exit 4", text="I look."), {"text": "Here."}, {"text": "Still here."})
    first = stage.run("run", "where is it?", "--approve", "always", "--output", "jsonl")

    second = stage.run("run", "sure?", "--resume", first.records[0]["session"], "--output", "jsonl")

    _, before, after = stage.fake.bodies()
    kept = messages(stage.word, before)
    assert messages(stage.word, after)[: len(kept)] == kept
    *_, answer, question, context = stage.sent()[-1].items
    assert (answer, question, context) == (("assistant", "Here."), ("user", "sure?"), ("user", "under a palm"))
    assert stage.sent()[-1].system == stage.sent()[0].system
    assert (second.records[0]["reason"], only(second.records, "reply")["text"]) == ("resume", "Still here.")


@pytest.mark.parametrize("word", WORDS)
async def test_what_a_provider_signed_comes_back_unchanged_after_a_resume(
    word: str, tmp_path: Path, fake_model: Callable[[object], FakeModel]
) -> None:
    stage = ProviderStage(tmp_path, word, fake_model)
    # A name that the library knows to think: to others it sends no thoughts back.
    stage.spec = f"{word}:gpt-5"
    (stage.workspace / "map.txt").write_text("x marks the spot\n")
    replies = [signed(word, call_stream(word, '{"path": "map.txt"}')), text_stream(word, "There.").whole, text_stream(word, "Yes.").whole]
    bodies: list[dict[str, Any]] = []

    async def answer(exchange: Exchange) -> None:
        bodies.append(json.loads(exchange.body))
        await exchange.start_stream()
        await exchange.send(replies[len(bodies) - 1])

    async with RawServer(answer) as server:
        environment = provider_environment(server.url)
        first = await asyncio.to_thread(stage.run, "run", "where?", "--output", "jsonl", **environment)
        session = first.records[0]["session"]
        second = await asyncio.to_thread(stage.run, "run", "sure?", "--resume", session, "--output", "jsonl", **environment)

    assert (first.status, second.status) == (0, 0), (first, second)
    assert "c2lnbmVk" in json.dumps(bodies[1])
    kept = messages(word, bodies[1])
    assert messages(word, bodies[2])[: len(kept)] == kept


def signed(word: str, stream: bytes) -> bytes:
    """The stream of a call with something in it that only its provider understands."""
    match word:
        case "anthropic":
            head, blocks = stream.split(b"event: content_block_start", 1)
            think = [
                ("content_block_start", {"content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                ("content_block_delta", {"delta": {"type": "thinking_delta", "thinking": "Where?"}}),
                ("content_block_delta", {"delta": {"type": "signature_delta", "signature": "c2lnbmVk"}}),
                ("content_block_stop", {}),
            ]
            events = [f"event: {kind}\ndata: {json.dumps({'type': kind, 'index': 0, **more})}\n\n".encode() for kind, more in think]
            return head + b"".join(events) + b"event: content_block_start" + blocks.replace(b'"index": 0', b'"index": 1')
        case "google":
            return stream.replace(b'{"functionCall"', b'{"thoughtSignature": "c2lnbmVk", "functionCall"')
        case "openai-responses":
            item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2lnbmVk"}
            kinds = ("response.output_item.added", "response.output_item.done")
            events = [
                f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': 0, 'output_index': 0, 'item': item})}\n\n".encode()
                for kind in kinds
            ]
            head, rest = stream.split(b"event: response.output_item.added", 1)
            return head + b"".join(events) + b"event: response.output_item.added" + rest.replace(b'"output_index": 0', b'"output_index": 1')
    return stream.replace(b'"call_1"', b'"call_c2lnbmVk"')
