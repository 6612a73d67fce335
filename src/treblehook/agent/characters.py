"""Texts made of characters alone: what a surrogate stands in for cannot be written in UTF-8."""

from typing import Any

from msgspec.structs import replace

from treblehook.agent.models.model import ModelReply
from treblehook.lifecycle import ToolCall


def characters(value: Any) -> Any:
    """The JSON value with every text made of characters: pairs of surrogates joined, lone ones replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {characters(key): characters(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [characters(item) for item in value]
    return value


def readable(reply: ModelReply) -> ModelReply:
    """The reply with its text and its calls made of characters. One that is changed cannot be given back as it was."""
    text = characters(reply.text)
    calls = tuple(ToolCall(characters(call.id), characters(call.name), characters(call.input)) for call in reply.calls)
    return reply if (text, calls) == (reply.text, reply.calls) else replace(reply, text=text, calls=calls, raw="")
