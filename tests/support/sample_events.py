"""One event of each kind that executables can watch, with the fields that a test does not care about filled in."""

from typing import Any, Final, Literal

from treblehook.lifecycle import (
    CompactionStarting,
    Event,
    PromptSubmitted,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolCall,
    ToolFinished,
    ToolProposed,
    TurnEnding,
)

SESSION = "sess_1"
WORKSPACE = "/path/to/the/nest"
CALL = ToolCall("call_1", "bash", {"command": "rm treasure/chest.yaml"})


def started(reason: Literal["start", "resume", "compacted"] = "start") -> SessionStart:
    return SessionStart(session=SESSION, workspace=WORKSPACE, reason=reason)


def submitted(prompt: str = "where is the treasure?", **fields: Any) -> PromptSubmitted:
    known: dict[str, Any] = {"model": "acme/first", "tools": ("read", "bash"), **fields}
    return PromptSubmitted(session=SESSION, workspace=WORKSPACE, prompt=prompt, **known)


def proposed(call: ToolCall = CALL) -> ToolProposed:
    return ToolProposed(session=SESSION, workspace=WORKSPACE, call=call)


def finished(content: str = "The chest is gone.", **fields: Any) -> ToolFinished:
    known: dict[str, Any] = {"call": CALL, "duration_ms": 12.5, **fields}
    return ToolFinished(session=SESSION, workspace=WORKSPACE, content=content, **known)


def ending(reply: str = "done", **fields: Any) -> TurnEnding:
    return TurnEnding(session=SESSION, workspace=WORKSPACE, prompt="draw it", reply=reply, **fields)


def compacting(reason: Literal["manual", "automatic"] = "manual", **fields: Any) -> CompactionStarting:
    return CompactionStarting(session=SESSION, workspace=WORKSPACE, reason=reason, tokens=1234, **fields)


def closed(reason: Literal["detached", "closed", "idle", "deleted", "shutdown", "refused"] = "closed", **fields: Any) -> SessionEnd:
    return SessionEnd(session=SESSION, workspace=WORKSPACE, reason=reason, **fields)


def handed_back(**fields: Any) -> SubagentFinished:
    known: dict[str, Any] = {"subagent": "sub_1", "background": False, "outcome": "completed", "text": "found it", **fields}
    return SubagentFinished(session=SESSION, workspace=WORKSPACE, **known)


SAMPLES: Final[dict[str, Event]] = {
    "session_start": started(),
    "pre_turn": submitted(),
    "pre_compact": compacting(),
    "pre_tool_use": proposed(),
    "post_tool_use": finished(),
    "turn_ending": ending(),
    "subagent_finished": handed_back(),
    "session_end": closed(),
}
"""One event for every phase."""
