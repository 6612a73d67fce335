"""What came back from a plugin, as the table that a test looks at."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from treblehook.contracts.crucible.messages import table_of
from treblehook.engine import Call, Ended, Outcome
from treblehook.lifecycle import (
    Block,
    ChooseNotes,
    ContextAssembled,
    Decision,
    Display,
    Environment,
    Event,
    Inject,
    ModelRequest,
    Refuse,
    RenderNotes,
    Replace,
    Rewrite,
    Stop,
    ToolFinished,
)
from treblehook.lifecycle.tool_events import ComingCall

Table = dict[str, Any]

_CLASSES: Final[dict[type[Decision], str]] = {
    Rewrite: "transform",
    ChooseNotes: "transform",
    RenderNotes: "transform",
    Display: "transform",
    Environment: "transform",
    Replace: "handled",
    Block: "cancel",
    Refuse: "cancel",
    Stop: "cancel",
    Inject: "inject",
}


def outcome_table(fired: Event, outcome: Outcome[Event], calls: Sequence[Call]) -> Table:
    """`status` is what the host would do; the keys beside it depend on that. `handlers` are the calls, in order.

    passed · rewritten: `args`, `prompt`, `messages`, `result` and `error` as they are now · cancelled: `reason` · denied: `reason`, an
    error of a handler counted as a no · handled: `result` · injected: `content`, `position` · chosen: `notes` · rendered: `text` ·
    displayed: the card's fields · environment: `env` · stopped.
    """
    table: Table = {"status": "passed", **_now(outcome.value)}
    if outcome.value != fired:
        table["status"] = "rewritten"
    for contribution in outcome.contributions:
        table |= _of_decision(contribution.decision, table)
    if outcome.decision is not None:
        table |= _of_decision(outcome.decision, table)
    elif any(isinstance(call.decision, Stop) for call in calls):
        table["status"] = "stopped"
    if outcome.failure is not None:
        table |= {"status": "denied", "error": outcome.failure}
    return {**table, "event": type(fired).__name__, "handlers": [_call_table(call) for call in calls]}


def _now(event: Event) -> Table:
    if isinstance(event, ComingCall):
        return {"tool": event.call.name, "args": event.call.input}
    if isinstance(event, ToolFinished):
        return {"result": event.result, "error": event.error}
    if isinstance(event, ModelRequest):
        return {"prompt": event.prompt}
    if isinstance(event, ContextAssembled):
        return {"messages": [table_of(message) for message in event.messages]}
    return {}


def _of_decision(decision: Decision, before: Table) -> Table:
    match decision:
        case Block(reason=reason) | Refuse(reason=reason):
            return {"status": "cancelled", "reason": reason}
        case Replace(content=content, is_error=is_error, terminate=terminate):
            return {"status": "handled", "result": content, "is_error": is_error, "terminate": terminate}
        case Inject(content=content, position=position):
            return {"status": "injected", "content": content, "position": position}
        case Environment(variables=variables):
            return {"status": "environment", "env": {**before.get("env", {}), **variables}}
        case ChooseNotes(notes=notes):
            return {"status": "chosen", "notes": msgspec.to_builtins(notes)}
        case RenderNotes(text=text):
            return {"status": "rendered", "text": text}
        case Display():
            return {"status": "displayed", **{key: value for key, value in msgspec.to_builtins(decision).items() if key != "type"}}
    return {"status": "answered", "decision": msgspec.to_builtins(decision)}


def _call_table(call: Call) -> Table:
    origin = call.handler.origin
    table: Table = {"hook": call.handler.name, "event": origin.event, "file": origin.file, "line": origin.line, "class": _class(call)}
    return {**table, "error": call.error} if call.error is not None else table


def _class(call: Call) -> str:
    if call.ended is Ended.TIMED_OUT:
        return "timed_out"
    if call.error is not None:
        return "error"
    return "pass" if call.decision is None else _CLASSES.get(type(call.decision), "transform")
