"""Row 8: what hooks are told of a reply. Costly texts are made only where somebody is bound."""

from typing import Literal

import msgspec

from treblehook.agent.models.model import ModelQuery, ModelReply
from treblehook.agent.state import SessionState
from treblehook.lifecycle import ModelResponse


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
        prompt=_json(query.messages) if listened else None,
        output=_json((reply.text, reply.calls)) if listened else None,
        tools=_json(query.tools) if listened else None,
        **state.facts.fields(),
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
