"""What a hook of the vera protocol is sent: one JSON object for each phase (vera.md 3.1 to 3.9)."""

from collections.abc import Callable
from typing import Any, Final

from treblehook.host.spill import limited
from treblehook.lifecycle import (
    CompactionStarting,
    PromptSubmitted,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolCall,
    ToolFinished,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

Payload = dict[str, Any]


def _session_start(event: SessionStart) -> Payload:
    return {"type": "session_start", "sessionId": event.session, "workspace": event.workspace, "reason": event.reason}


def _pre_turn(event: PromptSubmitted) -> Payload:
    effort = {"reasoningEffort": event.effort} if event.effort else {}
    return {
        "type": "pre_turn",
        "sessionId": event.session,
        "workspace": event.workspace,
        "prompt": event.prompt,
        "model": event.model,
        "tools": list(event.tools),
        **effort,
        "arrivedDuringTurn": event.joined,
        "spawned": event.spawned,
    }


def _pre_compact(event: CompactionStarting) -> Payload:
    capacity = {} if event.capacity is None else {"capacity": event.capacity}
    return {
        "type": "pre_compact",
        "sessionId": event.session,
        "workspace": event.workspace,
        "reason": event.reason,
        "tokens": event.tokens,
        **capacity,
        "spawned": event.spawned,
    }


def _pre_tool_use(event: ToolProposed) -> Payload:
    return {"type": "pre_tool_use", "toolCall": _call(event.call), "sessionId": event.session, "workspace": event.workspace}


def _post_tool_use(event: ToolFinished) -> Payload:
    return {
        "type": "post_tool_use",
        "toolCall": _call(event.call),
        "sessionId": event.session,
        "workspace": event.workspace,
        "result": {
            "toolCallId": event.call.id,
            "toolName": event.call.name,
            "content": [{"type": "text", "text": limited(event.content)}],
            "isError": event.is_error,
        },
        # A whole number is written without a fraction, so that a replaced call reads 0.
        "durationMs": int(event.duration_ms) if event.duration_ms == int(event.duration_ms) else event.duration_ms,
    }


def _call(call: ToolCall) -> Payload:
    return {"id": call.id, "name": call.name, "input": call.input}


def _turn_ending(event: TurnEnding) -> Payload:
    return {
        "type": "turn_ending",
        "sessionId": event.session,
        "workspace": event.workspace,
        "prompt": event.prompt,
        "reply": event.reply,
        "spawned": event.spawned,
        "continuations": event.continuations,
    }


def _turn_finished(event: TurnComplete) -> Payload:
    return {
        "type": "turn_finished",
        "sessionId": event.session,
        "workspace": event.workspace,
        "outcome": event.outcome,
        "turns": event.turns,
        "spawned": event.spawned,
        "prompt": event.prompt,
        "reply": event.reply,
    }


def _subagent_finished(event: SubagentFinished) -> Payload:
    return {
        "type": "subagent_finished",
        "parentSessionId": event.session,
        "subagentId": event.subagent,
        "workspace": event.workspace,
        "background": event.background,
        "outcome": event.outcome,
        "text": event.text,
    }


def _session_end(event: SessionEnd) -> Payload:
    return {
        "type": "session_end",
        "sessionId": event.session,
        "workspace": event.workspace,
        # This contract knows no refused session.
        "reason": "closed" if event.reason == "refused" else event.reason,
        "turns": event.turns,
        "spawned": event.spawned,
    }


PAYLOADS: Final[dict[str, Callable[[Any], Payload]]] = {
    "session_start": _session_start,
    "pre_turn": _pre_turn,
    "pre_compact": _pre_compact,
    "pre_tool_use": _pre_tool_use,
    "post_tool_use": _post_tool_use,
    "turn_ending": _turn_ending,
    "turn_finished": _turn_finished,
    "subagent_finished": _subagent_finished,
    "session_end": _session_end,
}
