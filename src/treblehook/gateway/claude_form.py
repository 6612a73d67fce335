"""Hook calls in Claude Code's form, which Qwen Code sends too, and the answers that both read."""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.gateway import reading
from treblehook.gateway.call_id import call_id
from treblehook.gateway.codec import Hooked
from treblehook.gateway.tool_names import ToolNames
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
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

Object = dict[str, Any]

_SAYS_ITSELF: Final = "<task-notification>"
"""How a prompt begins that tells of the end of a background agent: no user has said it."""

_STARTS: Final[dict[str, Literal["resume", "compacted"]]] = {"resume": "resume", "compact": "compacted"}


class ClaudeForm(Struct, frozen=True):
    """How one agent fills the form: its tools, at which of its events a tool is about to run, and what it makes of a result (the call, the
    response) and of an error (the call, its text)."""

    names: ToolNames
    coming: frozenset[str]
    result: Callable[[ToolCall, Any], ToolOutput]
    error: Callable[[ToolCall, str], ToolOutput]

    def decode(self, event: str, payload: Object) -> Arrived:
        """A hook call; `event` may be "". Raises `PayloadInvalid`."""
        name = event or reading.text(payload, "hook_event_name")
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
            call, tool = self._call(payload)
            return CallComing(call, tool, reading.mapping(payload, "tool_input"))
        read = _READERS.get(name)
        if read is not None:
            return read(payload)
        match name:
            case "PermissionRequest":
                return PermissionAsked(*self._call(payload))
            case "PostToolUse":
                call, tool = self._call(payload)
                response = payload.get("tool_response")
                return CallDone(call, tool, self.result(call, response), response, reading.number(payload, "duration_ms"))
            case "PostToolUseFailure":
                call, tool = self._call(payload)
                error = self.error(call, reading.text(payload, "error"))
                return CallDone(call, tool, error, duration_ms=reading.number(payload, "duration_ms"))
        return Other()

    def _call(self, payload: Object) -> tuple[ToolCall, str]:
        tool, given = reading.text(payload, "tool_name"), reading.mapping(payload, "tool_input")
        ours, translated = self.names.ours(tool, given)
        # A permission request has no id, nor has any call that another agent makes of a settings file that it shares.
        id = reading.text(payload, "tool_use_id", "") or call_id(reading.text(payload, "session_id"), tool, given)
        return ToolCall(id, ours, translated), tool


def _starting(payload: Object) -> What:
    return Starting(_STARTS.get(reading.text(payload, "source", ""), "start"))


def _prompt(payload: Object) -> What:
    """Blank is what Qwen Code calls the tool results that it sends back; nor does a user speak to a subagent."""
    prompt = reading.text(payload, "prompt")
    if not prompt.strip() or prompt.startswith(_SAYS_ITSELF) or reading.text(payload, "agent_id", ""):
        return Other()
    return PromptGiven(prompt)


def _compacting(payload: Object) -> What:
    return Compacting("manual" if reading.text(payload, "trigger", "") == "manual" else "automatic")


def _stopping(payload: Object) -> What:
    return Stopping(_reply(payload), reading.flag(payload, "stop_hook_active"))


def _subagent_done(payload: Object) -> What:
    """The summariser of a compaction ends as a subagent without a type."""
    if not reading.text(payload, "agent_type", "") or not reading.text(payload, "agent_id", ""):
        return Other()
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
    return specific(event, additionalContext=text) if text.strip() else {}


def specific(event: str, **fields: Any) -> Object:
    """What an answer says at `event` alone."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def blocked(reason: str) -> Object:
    """A prompt is not sent, and the model does not stop."""
    return {"decision": "block", "reason": reason}


def halted(reason: str) -> Object:
    """At the end of a tool: Claude Code ends the run, Qwen Code tells its model the reason in place of the result."""
    return {"continue": False, "stopReason": reason}


def installed(http: frozenset[str], hooked: dict[str, tuple[Any, ...]]) -> tuple[Hooked, ...]:
    """The table of installed events; `http` are those at which the agent calls over HTTP."""
    return tuple(Hooked(name, events, http=name in http) for name, events in hooked.items())
