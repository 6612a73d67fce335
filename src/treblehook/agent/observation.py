"""Row 8: what hooks are told of a reply. Costly texts are made only where somebody is bound."""

from typing import Any, Literal

import msgspec

from treblehook.agent.models.model import ModelQuery, ModelReply
from treblehook.agent.state import SessionState
from treblehook.lifecycle import Message, ModelResponse


def response_event(state: SessionState, query: ModelQuery, reply: ModelReply, *, model: str, milliseconds: float) -> ModelResponse:
    """The event of a reply that has been received whole."""
    listened = state.dispatcher.registry.listens(ModelResponse)
    decision: Literal["tool_call", "end_turn", "text"] = "tool_call" if reply.calls else "end_turn" if reply.stop == "end" else "text"
    return ModelResponse(
        turn=state.requests,
        text=reply.text,
        model=model,
        decision=decision,
        tool=reply.calls[0].name if reply.calls else None,
        input_tokens=reply.usage.input,
        output_tokens=reply.usage.output,
        duration_ms=round(milliseconds),
        prompt=_json([{"role": message.role, "content": _blocks(message)} for message in query.messages]) if listened else None,
        output=_json(_blocks(Message("assistant", reply.text, calls=reply.calls))) if listened else None,
        tools=_json(query.tools) if listened else None,
        **state.facts.fields(),
    )


def _blocks(message: Message) -> list[dict[str, Any]]:
    """What a message says, without what only names it."""
    if message.role == "tool":
        return [{"type": "tool_result", "tool_call_id": message.call_id, "is_error": message.is_error, "text": message.text}]
    said = [{"type": "text", "text": message.text}] if message.text else []
    return [*said, *({"type": "tool_call", "id": call.id, "name": call.name, "input": call.input} for call in message.calls)]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
