"""What one hook said: exit status, stderr and stdout, or the body of a response, as Claude Code was seen to read them.

Its rows are those of the table of denials that tests/contracts/claude/settings/test_denials.py goes through. A hook that says
something unreadable has failed, and a failure is no answer.
"""

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from treblehook.contracts.claude.settings.tools import own_result
from treblehook.contracts.vera.exits import failed_exit
from treblehook.contracts.vera.json_text import NotJson, named, parsed, trimmed
from treblehook.engine import HookFailed
from treblehook.lifecycle import Event, ToolFinished

REFUSED: Final = 2
"""The exit status that denies, whatever stdout says."""
NO_REASON: Final = "Blocked by hook"
"""What is said where a denial gives no reason."""
_TEXT_EVENTS: Final = frozenset(("SessionStart", "UserPromptSubmit"))
"""Where plain stdout is context."""
_NO_EXIT_2: Final = frozenset(("SessionStart", "SubagentStart", "SessionEnd", "PermissionRequest"))
_NO_DECISION: Final = frozenset(("SessionStart", "SubagentStart", "SessionEnd"))

Verdict = Literal["none", "allow", "ask", "stop", "deny"]


class Said(Struct, frozen=True, kw_only=True):
    """What one hook wants. `verdict` is about what is about to happen, `reason` belongs to it; `stop` is for ending the whole run.

    `input` is a tool's whole new input in Claude Code's words, `content` the new text of a result."""

    verdict: Verdict = "none"
    reason: str = ""
    context: str = ""
    input: dict[str, Any] | None = None
    content: str | None = None


class _Answer(Struct, rename="camel", kw_only=True):
    """The keys that are known at every event; a wrong type in one of them makes the whole answer void."""

    go_on: bool = field(default=True, name="continue")
    suppress_output: bool | UnsetType = UNSET
    stop_reason: str = ""
    system_message: str | UnsetType = UNSET
    decision: Literal["approve", "block"] | UnsetType = UNSET
    reason: str = ""
    hook_specific_output: dict[str, Any] | UnsetType = UNSET


class _Specific(Struct, rename="camel", kw_only=True):
    hook_event_name: str
    additional_context: str = ""


class _PreTool(_Specific, kw_only=True):
    permission_decision: Literal["allow", "ask", "defer", "deny"] | UnsetType = UNSET
    permission_decision_reason: str = ""
    updated_input: dict[str, Any] | UnsetType = UNSET


class _Decision(Struct, rename="camel", kw_only=True):
    behavior: Literal["allow", "deny"]
    message: str = ""
    updated_input: dict[str, Any] | UnsetType = UNSET


class _Permission(_Specific, kw_only=True):
    decision: _Decision | UnsetType = UNSET


class _PostTool(_Specific, kw_only=True):
    updated_tool_output: Any = UNSET
    updated_mcp_output: Any = field(default=UNSET, name="updatedMCPToolOutput")


def said(name: str, event: Event, status: int, stdout: bytes, stderr: bytes) -> Said:
    """What a hook of the Claude event `name` said about `event`; 2xx of HTTP is `status` 0. Raises `HookFailed`."""
    if status == REFUSED:
        return _refused(name, trimmed(stderr))
    text = trimmed(stdout)
    answer = _object(text)
    if answer is not None:
        # An answer counts whatever the exit status.
        return _read(name, event, answer)
    if status != 0:
        raise failed_exit(status)
    return Said(context=text) if name in _TEXT_EVENTS else Said()


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that the whole text is; None for any other text."""
    if not text.startswith("{"):
        return None
    try:
        found = parsed(text, finite=False)
    except NotJson:
        return None
    return found if isinstance(found, dict) else None


def _refused(name: str, reason: str) -> Said:
    if name in _NO_EXIT_2:
        raise HookFailed(f"exited with status {REFUSED}, which {name} does not heed")
    return _checked(name, Said(verdict="deny", reason=reason or NO_REASON))


def _read(name: str, event: Event, raw: dict[str, Any]) -> Said:
    try:
        answer = msgspec.convert(raw, _Answer)
        specific = _specific(name, answer)
    except msgspec.ValidationError as error:
        raise HookFailed(f"gave an answer that is none: {error}") from error
    found = _specifically(event, specific)
    if found.verdict == "none" and answer.decision == "block":
        found = msgspec.structs.replace(found, verdict="deny", reason=answer.reason or NO_REASON)
    elif found.verdict == "none" and answer.decision == "approve" and name == "PreToolUse":
        found = msgspec.structs.replace(found, verdict="allow")
    if not answer.go_on and found.verdict != "deny":
        found = msgspec.structs.replace(found, verdict="stop", reason=answer.stop_reason)
    return _checked(name, found)


def _specific(name: str, answer: _Answer) -> _Specific | None:
    if answer.hook_specific_output is UNSET:
        return None
    kinds: dict[str, type[_Specific]] = {"PreToolUse": _PreTool, "PermissionRequest": _Permission, "PostToolUse": _PostTool}
    found = msgspec.convert(answer.hook_specific_output, kinds.get(name, _Specific))
    if found.hook_event_name != name:
        raise HookFailed(f"its hookEventName is {named(found.hook_event_name)}; the event is {name}")
    return found


def _specifically(event: Event, specific: _Specific | None) -> Said:
    if specific is None:
        return Said()
    context = specific.additional_context
    if isinstance(specific, _PreTool):
        new_input = None if specific.updated_input is UNSET else specific.updated_input
        verdict, reason = _verdict(specific)
        return Said(verdict=verdict, reason=reason, context=context, input=new_input)
    if isinstance(specific, _Permission) and specific.decision is not UNSET:
        return _permitted(specific.decision)
    if isinstance(specific, _PostTool):
        return Said(context=context, content=_content(event, specific))
    return Said(context=context)


def _verdict(specific: _PreTool) -> tuple[Verdict, str]:
    given = specific.permission_decision
    if given is UNSET:
        return "none", ""
    if given == "allow":
        return "allow", ""
    return "stop" if given == "defer" else given, specific.permission_decision_reason or NO_REASON


def _permitted(decision: _Decision) -> Said:
    if decision.behavior == "deny":
        return Said(verdict="deny", reason=decision.message)
    if decision.updated_input is not UNSET:
        raise HookFailed("allowed the call with another input; here it is allowed as it is or not, so the user is asked")
    return Said(verdict="allow")


def _content(event: Event, specific: _PostTool) -> str | None:
    assert isinstance(event, ToolFinished), "PostToolUse is about a finished call"
    name = event.call.name
    if specific.updated_mcp_output is not UNSET and name.startswith("mcp__"):
        given = specific.updated_mcp_output
        return given if isinstance(given, str) else own_result(name, given)
    return None if specific.updated_tool_output is UNSET else own_result(name, specific.updated_tool_output)


def _checked(name: str, found: Said) -> Said:
    """Raises `HookFailed` for a wish that is understood and cannot be fulfilled here: it shall not be lost without a word."""
    if name == "PreCompact" and found.verdict == "deny":
        raise HookFailed(f"wants no compaction, which a hook cannot keep from happening here: {found.reason}")
    if name in _NO_DECISION and found.verdict == "deny":
        raise HookFailed(f"gave a decision, and {name} takes none")
    return found
