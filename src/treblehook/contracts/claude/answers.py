"""What a script of the claude protocol answers: exit status, stderr and stdout become a decision (vera.md 4.3 to 4.7)."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.vera import checks
from treblehook.contracts.vera.exits import failed_exit
from treblehook.contracts.vera.json_text import NotJson, TooDeep, named, parsed, shown, trimmed
from treblehook.engine import HookFailed
from treblehook.lifecycle import AddContext, Block, Continue, Decision
from treblehook.runtimes.process import Finished

Object = dict[str, Any]
Decide = Callable[[Finished], Decision | None]
REASON_STATUS: Final = 2
"""The exit status whose stderr is a reason."""


class Reading(Struct, frozen=True):
    """How one event reads the four things that a script can say; None where it ignores them."""

    reason: Callable[[str], Decision] | None = None
    text: Callable[[str], Decision] | None = None
    object: Callable[[Object], Decision | None] | None = None


def decider(name: str) -> Decide:
    """How a finished script of the event `name` is read; raises HookFailed."""
    reading = _READINGS[name]

    def decide(finished: Finished) -> Decision | None:
        if finished.status == REASON_STATUS:
            return _refused(trimmed(finished.stderr), reading)
        if finished.status != 0:
            raise failed_exit(finished.status)
        return _said(trimmed(finished.stdout), reading)

    return decide


def _refused(reason: str, reading: Reading) -> Decision | None:
    if reading.reason is None:
        return None
    if not reason:
        raise HookFailed("exited with status 2 and gave no reason on stderr")
    return reading.reason(reason)


def _said(stdout: str, reading: Reading) -> Decision | None:
    if not stdout or reading.object is None:
        return None
    try:
        answer = parsed(stdout, finite=False)
    except TooDeep as error:
        raise HookFailed(f"printed JSON that is {error}") from error
    except NotJson:
        answer = None
    if isinstance(answer, dict):
        return reading.object(answer)
    return None if reading.text is None else reading.text(stdout)


def _context(text: str) -> AddContext:
    return AddContext(checks.within_context(text, "context"))


def _continue(reason: str) -> Continue:
    return Continue(checks.within_context(reason, "reason"))


def _pre_tool_use(answer: Object) -> Block | None:
    specific = _specific(answer, "PreToolUse")
    decision = specific.get("permissionDecision", "allow")
    if decision == "allow":
        # Leaves the call alone; it grants nothing.
        return None
    if decision != "deny":
        raise HookFailed(f"its permissionDecision is {named(decision)}; allowed: allow, deny")
    return Block(checks.text(specific, "permissionDecisionReason"))


def _session_start(answer: Object) -> AddContext | None:
    return _additional_context(answer, "SessionStart")


def _user_prompt_submit(answer: Object) -> Block | AddContext | None:
    if answer.get("decision") == "block":
        return Block(checks.text(answer, "reason"))
    return _additional_context(answer, "UserPromptSubmit")


def _stopping(name: str) -> Callable[[Object], Continue | None]:
    def read(answer: Object) -> Continue | None:
        _specific(answer, name)
        return _continue(checks.text(answer, "reason")) if answer.get("decision") == "block" else None

    return read


def _additional_context(answer: Object, name: str) -> AddContext | None:
    specific = _specific(answer, name)
    text = checks.context(specific, "additionalContext") if "additionalContext" in specific else ""
    return AddContext(text) if text else None


def _specific(answer: Object, name: str) -> Object:
    """`hookSpecificOutput`, {} where there is none; one that is there must name the event."""
    if "hookSpecificOutput" not in answer:
        return {}
    specific = checks.mapping(answer, "hookSpecificOutput")
    if specific.get("hookEventName") != name:
        raise HookFailed(f"its hookEventName is {named(specific.get('hookEventName'))}; it must be {shown(name)}")
    return specific


_READINGS: Final[dict[str, Reading]] = {
    "PreToolUse": Reading(reason=Block, object=_pre_tool_use),
    "SessionStart": Reading(text=_context, object=_session_start),
    "UserPromptSubmit": Reading(reason=Block, text=_context, object=_user_prompt_submit),
    "Stop": Reading(reason=_continue, object=_stopping("Stop")),
    "SubagentStop": Reading(reason=_continue, object=_stopping("SubagentStop")),
    "PreCompact": Reading(),
    "SessionEnd": Reading(),
}
