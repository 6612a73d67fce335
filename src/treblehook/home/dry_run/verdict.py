"""What a dispatch came to, in the words of a report."""

from typing import Any, Final, Literal

from msgspec import Struct, to_builtins

from treblehook.engine import Outcome
from treblehook.lifecycle import Block, Decision, Deny, Event, Refuse, Replace
from treblehook.lifecycle.tool_events import ToolEvent

Status = Literal["passed", "rewritten", "contributed", "answered", "replaced", "denied", "blocked", "refused"]

_STATUSES: Final[dict[type[Decision], Status]] = {Block: "blocked", Refuse: "refused", Deny: "denied", Replace: "replaced"}


class Verdict(Struct, frozen=True):
    """The outcome of one event.

    `by` is the hook that settled it, `reason` its words, `failure` the error where not its words but its failure did.
    `changed` holds the fields that hooks have rewritten, as they are now; `contributions` what rides along, by hook.
    """

    event: str
    status: Status
    by: str | None
    reason: str | None
    failure: str | None
    decision: dict[str, Any] | None
    changed: dict[str, Any]
    contributions: list[dict[str, Any]]


def verdict(fired: Event, outcome: Outcome[Event]) -> Verdict:
    """Read the outcome of the event that was `fired`."""
    before, after = _rewritable(fired), _rewritable(outcome.value)
    changed = {name: to_builtins(value) for name, value in after.items() if value != before[name]}
    contributions = [{"hook": c.handler.name, "decision": to_builtins(c.decision)} for c in outcome.contributions]
    decision = outcome.decision
    return Verdict(
        event=type(fired).__name__,
        status=_status(decision, rewritten=bool(changed), contributed=bool(contributions)),
        by=None if outcome.by is None else outcome.by.name,
        reason=decision.reason if isinstance(decision, Block | Refuse | Deny) else None,
        failure=outcome.failure,
        decision=None if decision is None else to_builtins(decision),
        changed=changed,
        contributions=contributions,
    )


def _status(decision: Decision | None, *, rewritten: bool, contributed: bool) -> Status:
    if decision is not None:
        return _STATUSES.get(type(decision), "answered")
    if rewritten:
        return "rewritten"
    return "contributed" if contributed else "passed"


def _rewritable(event: Event) -> dict[str, Any]:
    return {name: _field(event, name) for name in sorted(event.rewrites)}


def _field(event: Event, name: str) -> Any:
    return event.call.input if isinstance(event, ToolEvent) and name == "input" else getattr(event, name)
