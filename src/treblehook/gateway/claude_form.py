"""Hook calls in Claude Code's form, which Qwen Code sends too, and the answers that both read."""

import re
from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.gateway import reading
from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import PayloadInvalid
from treblehook.gateway.values import (
    Arrived,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    Other,
    PermissionAsked,
    PromptGiven,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.gateway.wording import said
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

Object = dict[str, Any]

_SAYS_ITSELF: Final = re.compile(r"(?:<task-notification>\n(?:(?!</task-notification>).)*\n</task-notification>\s*)+", re.DOTALL)
"""A prompt that tells of the end of background tasks, and of nothing beside: no user has said it."""

NOTIFIED: Final = "a prompt in the form of a <task-notification>, as the end of a background task is told, comes to no prompt hook"

_STARTS: Final[dict[str, Literal["resume", "compacted"]]] = {"resume": "resume", "compact": "compacted"}


class ClaudeForm(Struct, frozen=True):
    """How one agent fills the form. `calls` are the calls of ours that one of its tool calls is (its tool, the input, an id), at least one,
    and `has_tool` says whether a name can be that of a tool of its own. `coming` are the events at which a tool is about to run. `result`
    is what it makes of a result (the call, the response), `error` of an error (the call, its text)."""

    calls: Callable[[str, Object, str], tuple[ToolCall, ...]]
    has_tool: Callable[[str], bool]
    coming: frozenset[str]
    result: Callable[[ToolCall, Any], ToolOutput]
    error: Callable[[ToolCall, str], ToolOutput]

    def decode(self, event: str, payload: Object) -> Arrived:
        """A hook call; `event` may be "". Raises `PayloadInvalid`, also for what another agent sends in this form."""
        name = event or reading.text(payload, "hook_event_name")
        _check_sender(name, payload)
        what = self._what(name, payload)
        # What is not acted upon need not be whole.
        missing = "" if isinstance(what, Other) else None
        return Arrived(
            name,
            what,
            session=reading.text(payload, "session_id", missing),
            workspace=reading.text(payload, "cwd", missing),
            subagent=reading.text(payload, "agent_id", ""),
            model=reading.text(payload, "model", ""),
        )

    def _what(self, name: str, payload: Object) -> What:
        if name in self.coming:
            call, tool, more = self._calls(payload)
            return CallComing(call, tool, reading.mapping(payload, "tool_input"), more)
        read = _READERS.get(name)
        if read is not None:
            return read(payload)
        match name:
            case "PermissionRequest":
                return PermissionAsked(*self._calls(payload))
            case "PostToolUse":
                call, tool, more = self._calls(payload)
                response = payload.get("tool_response")
                return CallDone(call, tool, self.result(call, response), response, reading.number(payload, "duration_ms"), more)
            case "PostToolUseFailure":
                call, tool, more = self._calls(payload)
                error = self.error(call, reading.text(payload, "error"))
                return CallDone(call, tool, error, duration_ms=reading.number(payload, "duration_ms"), more=more)
        return Other()

    def _calls(self, payload: Object) -> tuple[ToolCall, str, tuple[ToolCall, ...]]:
        """The first call of ours, the agent's tool, and the other calls."""
        tool, given = reading.text(payload, "tool_name"), reading.mapping(payload, "tool_input")
        if not self.has_tool(tool):
            raise PayloadInvalid("tool_name", f"{reading.shown(tool)}, a tool of another agent", "one of this agent")
        # A permission request has no id.
        id = reading.text(payload, "tool_use_id", "") or call_id(reading.text(payload, "session_id"), tool, given)
        call, *more = self.calls(tool, given, id)
        return call, tool, tuple(more)


def _check_sender(event: str, payload: Object) -> None:
    """Raises `PayloadInvalid` for the call of an agent that fills the same form with other tools, or takes other answers."""
    named = reading.text(payload, "hook_event_name", event)
    if named != event:
        raise PayloadInvalid("hook_event_name", reading.shown(named), f"{event}, for which the call was made")
    if "turn_id" in payload and "prompt_id" not in payload:
        raise PayloadInvalid("turn_id", "what only Codex sends", "a call of this agent")
    if "timestamp" in payload and "transcript_path" not in payload:
        # Copilot runs the hooks of a project's .claude/settings.json too.
        raise PayloadInvalid("transcript_path", "nothing, as Copilot sends it", "a call of this agent")


def _starting(payload: Object) -> What:
    return Starting(_STARTS.get(reading.text(payload, "source", ""), "start"))


def _prompt(payload: Object) -> What:
    prompt = reading.text(payload, "prompt")
    return Other() if _SAYS_ITSELF.fullmatch(prompt) else PromptGiven(prompt)


def _compacting(payload: Object) -> What:
    return Compacting("manual" if reading.text(payload, "trigger", "") == "manual" else "automatic")


def _stopping(payload: Object) -> What:
    return Stopping(_reply(payload), reading.flag(payload, "stop_hook_active"))


def _subagent_done(payload: Object) -> What:
    """The summariser of a compaction ends as a subagent without a type."""
    if not reading.text(payload, "agent_type"):
        return Other()
    if not reading.text(payload, "agent_id"):
        # It would end the session of the agent itself.
        raise PayloadInvalid("agent_id", "''", "the id of a subagent")
    return SubagentDone(_reply(payload), reading.flag(payload, "stop_hook_active"))


def _reply(payload: Object) -> str:
    return reading.text(payload, "last_assistant_message", "")


def _ending(payload: Object) -> What:
    return Ending()


_READERS: Final[dict[str, Callable[[Object], What]]] = {
    "SessionStart": _starting,
    "UserPromptSubmit": _prompt,
    "PreCompact": _compacting,
    "Stop": _stopping,
    "SubagentStop": _subagent_done,
    "SessionEnd": _ending,
}


def denied(event: str, reason: str) -> Object:
    """The call does not run."""
    return specific(event, permissionDecision="deny", permissionDecisionReason=reason)


def asked(event: str, reason: str) -> Object:
    """The user decides whether the call runs."""
    return specific(event, permissionDecision="ask", permissionDecisionReason=reason)


def context(event: str, text: str) -> Object:
    """Text for the model; no opinion where it is blank."""
    return specific(event, additionalContext=said(text)) if text.strip() else {}


def specific(event: str, **fields: Any) -> Object:
    """What an answer says at `event` alone."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def blocked(reason: str) -> Object:
    """A prompt is not sent, and the model does not stop."""
    return {"decision": "block", "reason": reason}


def halted(reason: str) -> Object:
    """At the end of a tool: Claude Code ends the run, Qwen Code tells its model the reason in place of the result."""
    return {"continue": False, "stopReason": reason}
