"""The library's finished reply as ours."""

import json
from dataclasses import replace

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_core import PydanticSerializationError

from treblehook.agent.models.model import ModelFailed, ModelReply, Stop, Usage
from treblehook.lifecycle import ToolCall


class MalformedCall(Exception):
    """A call's arguments are not a JSON object."""

    def __init__(self, tool: str, arguments: str) -> None:
        super().__init__(f"the model called {tool} with arguments that are no JSON object: {arguments}")


def reply_of(spec: str, response: ModelResponse) -> ModelReply:
    """What the model said. Raises `ModelFailed` where the stream ended before the reply did, or a call cannot be read."""
    details = response.provider_details or {}
    if response.finish_reason != "content_filter" and not details.get("finish_reason"):
        raise ModelFailed(spec, "cut", "the stream ended in the middle of the reply", retryable=True)
    if response.finish_reason == "error":
        raise ModelFailed(spec, "malformed", f"the provider gave up the reply ({details['finish_reason']})", retryable=True)
    whole = _without_unfinished_call(response)
    try:
        calls = calls_of(whole)
    except MalformedCall as error:
        raise ModelFailed(spec, "malformed", str(error), retryable=True) from error
    usage = response.usage
    return ModelReply(
        text=text_of(whole) or str(details.get("refusal", "")),
        calls=calls,
        stop=_stop(whole, calls),
        usage=Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
        raw=_raw(whole),
    )


def _raw(response: ModelResponse) -> str:
    """The reply as it is given back; nothing where it holds what cannot be written, such as half a surrogate pair."""
    try:
        return ModelMessagesTypeAdapter.dump_json([response], exclude_none=True).decode()
    except PydanticSerializationError:
        return ""


def text_of(response: ModelResponse) -> str:
    """The text of a reply, as it streamed in."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def calls_of(response: ModelResponse) -> tuple[ToolCall, ...]:
    """The calls of a reply. Raises `MalformedCall`."""
    return tuple(ToolCall(part.tool_call_id, part.tool_name, _arguments(part)) for part in response.parts if isinstance(part, ToolCallPart))


def _arguments(part: ToolCallPart) -> dict[str, object]:
    given = part.args or {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as error:
            raise MalformedCall(part.tool_name, str(part.args)) from error
    if not isinstance(given, dict):
        raise MalformedCall(part.tool_name, str(part.args))
    return given


def _without_unfinished_call(response: ModelResponse) -> ModelResponse:
    """A reply that was stopped while it wrote a call: that call is not what the model meant, even where it can be read."""
    stopped = response.finish_reason in ("length", "content_filter")
    if stopped and response.parts and isinstance(response.parts[-1], ToolCallPart):
        return replace(response, parts=response.parts[:-1])
    return response


def _stop(response: ModelResponse, calls: tuple[ToolCall, ...]) -> Stop:
    if response.finish_reason == "length":
        return "length"
    if response.finish_reason == "content_filter":
        return "refusal"
    return "tools" if calls else "end"
