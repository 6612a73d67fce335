"""What a hook is sent: one JSON object for each event, with the keys and in the order in which Claude Code sends them.

Left out is what does not exist here: `prompt_id`, `effort`, `mcp_server`. `transcript_path` is the session's own file, in our format.
"""

from collections.abc import Callable
from typing import Any, Final

from treblehook.contracts.claude.settings.events import AGENT_TYPE, END_REASON, SOURCES, TRIGGERS
from treblehook.contracts.claude.settings.tools import names_of, told_input, told_result
from treblehook.lifecycle import CompactionStarting, Event, PromptSubmitted, SessionStart, ToolFinished, TurnEnding
from treblehook.lifecycle.tool_events import ToolEvent

Payload = dict[str, Any]
Transcript = Callable[[str], str]
"""The path of a session's file."""

_MODE: Final = {"permission_mode": "default"}


def payload(name: str, event: Event, transcript: Transcript) -> Payload:
    """What the hooks of the Claude event `name` are sent of `event`."""
    head = {"session_id": event.session, "transcript_path": transcript(event.session), "cwd": event.workspace}
    agent = {"agent_id": event.session, "agent_type": AGENT_TYPE} if event.spawned else {}
    return {**head, **agent, **_BODIES[name](name, event, transcript)}


def _session_start(name: str, event: SessionStart, _: Transcript) -> Payload:
    return {"hook_event_name": name, "source": SOURCES[event.reason]}


def _subagent_start(name: str, event: SessionStart, _: Transcript) -> Payload:
    return {"hook_event_name": name}


def _prompt(name: str, event: PromptSubmitted, _: Transcript) -> Payload:
    return {**_MODE, "hook_event_name": name, "prompt": event.prompt}


def _call(name: str, event: ToolEvent) -> Payload:
    told = {"tool_name": names_of(event.call.name)[0], "tool_input": told_input(event.call, event.workspace)}
    return {**_MODE, "hook_event_name": name, **told}


def _pre_tool(name: str, event: ToolEvent, _: Transcript) -> Payload:
    return {**_call(name, event), "tool_use_id": event.call.id}


def _permission(name: str, event: ToolEvent, _: Transcript) -> Payload:
    return {**_call(name, event), "permission_suggestions": []}


def _post_tool(name: str, event: ToolFinished, _: Transcript) -> Payload:
    after = {"tool_response": told_result(event), "tool_use_id": event.call.id, "duration_ms": round(event.duration_ms)}
    return {**_call(name, event), **after}


def _post_failure(name: str, event: ToolFinished, _: Transcript) -> Payload:
    after = {"tool_use_id": event.call.id, "error": event.content, "is_interrupt": False, "duration_ms": round(event.duration_ms)}
    return {**_call(name, event), **after}


def _stop(name: str, event: TurnEnding, transcript: Transcript) -> Payload:
    own = {"agent_transcript_path": transcript(event.session)} if event.spawned else {}
    said = {"stop_hook_active": event.continuations > 0, **own, "last_assistant_message": event.reply}
    return {**_MODE, "hook_event_name": name, **said, "background_tasks": [], "session_crons": []}


def _compaction(name: str, event: CompactionStarting, _: Transcript) -> Payload:
    return {"hook_event_name": name, "trigger": TRIGGERS[event.reason], "custom_instructions": None}


def _session_end(name: str, event: Event, _: Transcript) -> Payload:
    return {"hook_event_name": name, "reason": END_REASON}


_BODIES: Final[dict[str, Callable[[str, Any, Transcript], Payload]]] = {
    "SessionStart": _session_start,
    "SubagentStart": _subagent_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _pre_tool,
    "PermissionRequest": _permission,
    "PostToolUse": _post_tool,
    "PostToolUseFailure": _post_failure,
    "Stop": _stop,
    "SubagentStop": _stop,
    "PreCompact": _compaction,
    "SessionEnd": _session_end,
}
