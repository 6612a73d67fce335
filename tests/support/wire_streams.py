"""Streams as the providers send them, event by event, for servers that break off, stall or send nonsense."""

import json
from typing import Any, NamedTuple

WORDS = ("anthropic", "google", "openai", "openai-responses")


class Stream(NamedTuple):
    """A reply of one text in parts: what comes before, each part of the text, and what ends the reply."""

    head: bytes
    deltas: list[bytes]
    tail: bytes

    @property
    def whole(self) -> bytes:
        return self.head + b"".join(self.deltas) + self.tail


def text_stream(word: str, *deltas: str, finish: str = "") -> Stream:
    """A text in parts. `finish` is the provider's own word for why it stopped, where that is not the usual one."""
    match word:
        case "anthropic":
            head = _anthropic_start() + _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            parts = [_event("content_block_delta", index=0, delta={"type": "text_delta", "text": delta}) for delta in deltas]
            return Stream(head, parts, _event("content_block_stop", index=0) + _anthropic_end(finish or "end_turn"))
        case "google":
            parts = [_data(_candidate([{"text": delta}])) for delta in deltas]
            return Stream(b"", parts, _data(_candidate([{"text": ""}], finish or "STOP")))
        case "openai":
            parts = [_data(_chunk({"content": delta})) for delta in deltas]
            return Stream(_data(_chunk({"role": "assistant", "content": ""})), parts, _chat_end(finish or "stop"))
    added = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    place: dict[str, Any] = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = added | {"status": "completed", "content": [{"type": "output_text", "text": "".join(deltas), "annotations": []}]}
    return Stream(
        _responses_start(added),
        [_event("response.output_text.delta", delta=delta, **place) for delta in deltas],
        _event("response.output_item.done", output_index=0, item=item) + _responses_end([item], finish),
    )


def call_stream(word: str, arguments: str, *, finish: str = "") -> bytes:
    """A call of the tool `read`, with `arguments` as they stand between the provider's quotes (at Google: as a JSON value)."""
    match word:
        case "anthropic":
            call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
            start = _event("content_block_start", index=0, content_block=call)
            delta = _event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": arguments})
            return _anthropic_start() + start + delta + _event("content_block_stop", index=0) + _anthropic_end(finish or "tool_use")
        case "google":
            part: dict[str, Any] = {"functionCall": {"id": "1", "name": "read", "args": "ARGUMENTS"}}
            return _data(_candidate([part], finish or "STOP")).replace(b'"ARGUMENTS"', arguments.encode())
        case "openai":
            function = {"name": "read", "arguments": arguments}
            chunk = _chunk({"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
            return _data(chunk) + _chat_end(finish or "tool_calls")
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "", "status": "in_progress"}
    done = item | {"arguments": arguments, "status": "completed"}
    return (
        _responses_start(item)
        + _event("response.function_call_arguments.delta", item_id="fc_1", output_index=0, delta=arguments)
        + _event("response.output_item.done", output_index=0, item=done)
        + _responses_end([done], finish)
    )


def _data(content: object) -> bytes:
    return f"data: {content if isinstance(content, str) else json.dumps(content)}\n\n".encode()


def _event(kind: str, **content: object) -> bytes:
    return f"event: {kind}\n".encode() + _data({"type": kind, "sequence_number": 0, **content})


def _anthropic_start() -> bytes:
    usage = {"input_tokens": 3, "output_tokens": 0, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 7}
    head: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    return _event("message_start", message=head | {"usage": usage})


def _anthropic_end(stop: str) -> bytes:
    ended = _event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 5})
    return ended + _event("message_stop")


def _candidate(parts: list[dict[str, Any]], finish: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    usage = {"promptTokenCount": 30, "candidatesTokenCount": 5, "totalTokenCount": 35, "cachedContentTokenCount": 20}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], "usageMetadata": usage, "modelVersion": "m"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


def _chat_end(finish: str) -> bytes:
    usage = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35, "prompt_tokens_details": {"cached_tokens": 20}}
    return _data(_chunk({}, finish)) + _data(_chunk({}) | {"choices": [], "usage": usage}) + _data("[DONE]")


def _responses_start(item: dict[str, Any]) -> bytes:
    created = _event("response.created", response=_response("in_progress", []))
    return created + _event("response.output_item.added", output_index=0, item=item)


def _responses_end(output: list[dict[str, Any]], finish: str) -> bytes:
    if not finish:
        return _event("response.completed", response=_response("completed", output))
    incomplete = _response("incomplete", output) | {"incomplete_details": {"reason": finish}}
    return _event("response.incomplete", response=incomplete)


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {
        "input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 35,
    }
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True, "error": None}
    return head | {"status": status, "output": output, "usage": usage}
