"""Our messages as the library's, in a shape that a provider accepts."""

import msgspec
from msgspec.structs import replace
from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)

from treblehook.agent.models.model import ModelQuery
from treblehook.agent.models.wire.replies import MalformedCall, calls_of, text_of
from treblehook.lifecycle import Message


def history_of(query: ModelQuery, *, error_channel: bool) -> list[ModelMessage]:
    """The conversation of a query, its system prompt in front.

    `error_channel` says whether the provider has a field for a failed tool; where it has none the text goes as it is. What no
    provider accepts is mended: a result without its call is left out, a call without a result gets one that says so, and
    results stand in front of other messages of the same side.

    A request that offers no tools tells earlier calls and their results as text: Anthropic refuses such blocks without tools.
    """
    history: list[ModelMessage] = []
    if query.system:
        history.append(ModelRequest(parts=[SystemPromptPart(query.system)]))
    for message in query.messages if query.tools else map(_told, query.messages):
        history += _converted(message, error_channel)
    return repair_messages(history)


def _told(message: Message) -> Message:
    """The message with calls and results as text."""
    if message.calls:
        called = [f"[Called {call.name}: {msgspec.json.encode(call.input).decode()}]" for call in message.calls]
        return replace(message, text="\n".join([message.text, *called] if message.text else called), calls=(), raw="")
    if message.role == "tool":
        return Message("user", f"[{message.tool} {'failed' if message.is_error else 'answered'}:]\n{message.text}")
    return message


def _converted(message: Message, error_channel: bool) -> list[ModelMessage]:
    if message.role == "assistant":
        return [_original(message) or _rebuilt(message)] if message.text or message.calls else []
    if message.role == "system":
        return [ModelRequest(parts=[SystemPromptPart(message.text)])]
    if message.role == "user":
        return [ModelRequest(parts=[UserPromptPart(message.text)])]
    result = ToolReturnPart(
        tool_name=message.tool,
        # A provider refuses an empty text, but not a result without one.
        content=message.text or [],
        tool_call_id=message.call_id,
        outcome="failed" if message.is_error and error_channel else "success",
    )
    return [ModelRequest(parts=[result])]


def _original(message: Message) -> ModelResponse | None:
    """The provider's own reply, unless the message no longer says the same: what a hook took out must not come back this way."""
    if not message.raw:
        return None
    try:
        (response,) = ModelMessagesTypeAdapter.validate_json(message.raw)
        if isinstance(response, ModelResponse) and text_of(response) == message.text and calls_of(response) == message.calls:
            return response
    except (ValidationError, ValueError, MalformedCall):
        # Written by another version of the library.
        return None
    return None


def _rebuilt(message: Message) -> ModelResponse:
    text = [TextPart(message.text)] if message.text else []
    calls = [ToolCallPart(tool_name=call.name, args=call.input, tool_call_id=call.id) for call in message.calls]
    return ModelResponse(parts=[*text, *calls])
