"""What a script of the claude protocol is sent: one JSON object in snake case for each event, none with a transcript path (vera.md 4.2)."""

from collections.abc import Callable
from typing import Any, Final

from treblehook.lifecycle import CompactionStarting, Event, PromptSubmitted, SessionEnd, SessionStart, ToolProposed, TurnEnding

Payload = dict[str, Any]

_SOURCES: Final = {"start": "startup", "resume": "resume", "compacted": "compact"}
_TRIGGERS: Final = {"manual": "manual", "automatic": "auto"}
_TOOL_NAMES: Final = {"bash": "Bash"}


def _head(event: Event, name: str) -> Payload:
    return {"session_id": event.session, "cwd": event.workspace, "hook_event_name": name}


def _pre_tool_use(event: ToolProposed) -> Payload:
    return {
        "session_id": event.session,
        "hook_event_name": "PreToolUse",
        "tool_name": _TOOL_NAMES.get(event.call.name, event.call.name),
        "tool_input": event.call.input,
        "tool_use_id": event.call.id,
        "cwd": event.workspace,
    }


def _session_start(event: SessionStart) -> Payload:
    return {**_head(event, "SessionStart"), "source": _SOURCES[event.reason]}


def _user_prompt_submit(event: PromptSubmitted) -> Payload:
    return {**_head(event, "UserPromptSubmit"), "prompt": event.prompt}


def _stop(event: TurnEnding, name: str = "Stop") -> Payload:
    return {**_head(event, name), "stop_hook_active": event.continuations > 0, "last_assistant_message": event.reply}


def _subagent_stop(event: TurnEnding) -> Payload:
    return {**_stop(event, "SubagentStop"), "agent_id": event.session}


def _pre_compact(event: CompactionStarting) -> Payload:
    return {**_head(event, "PreCompact"), "trigger": _TRIGGERS[event.reason], "custom_instructions": ""}


def _session_end(event: SessionEnd) -> Payload:
    return {**_head(event, "SessionEnd"), "reason": "other"}


PAYLOADS: Final[dict[str, Callable[[Any], Payload]]] = {
    "PreToolUse": _pre_tool_use,
    "SessionStart": _session_start,
    "UserPromptSubmit": _user_prompt_submit,
    "Stop": _stop,
    "SubagentStop": _subagent_stop,
    "PreCompact": _pre_compact,
    "SessionEnd": _session_end,
}
