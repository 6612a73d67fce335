"""The records of a session: what `--output jsonl` shows (design, section 6), and what the session file keeps.

The file keeps more (messages, usage) and leaves out what a later hook may have changed, so that what was redacted is not on disk.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from treblehook.agent.inbox import When
from treblehook.agent.models.model import Usage
from treblehook.engine import Call
from treblehook.host.calls import INTERRUPTED, CallOutcome
from treblehook.lifecycle import (
    AddContext,
    ChooseNotes,
    Continue,
    Decision,
    Environment,
    Inject,
    Message,
    RenderNotes,
    Replace,
    Rewrite,
    ToolCall,
)
from treblehook.lifecycle.tool_events import ToolEvent

Record = dict[str, Any]

PUBLIC: Final = {
    "session": ("id", "parent", "workspace", "model", "reason"),
    "prompt": ("text",),
    "row": ("text", "hook"),
    "hook": ("event", "contract", "hook", "call", "target", "ended", "decision", "error", "ms"),
    "tool_call": ("id", "name", "input", "asked"),
    "tool_result": ("id", "name", "content", "is_error", "ran", "ms"),
    "reply": ("text",),
    "compaction": ("reason", "tokens_before", "tokens_after"),
    "artifact": ("hook", "content"),
    "end": ("status", "turns", "reason"),
}
"""The record types that are shown, each with its keys after `type`, `at` and `session`."""

_TEXTS_OF: Final[dict[type[Decision], tuple[str, ...]]] = {
    Rewrite: ("input", "content", "covered", "prompt", "messages", "context"),
    Replace: ("content",),
    AddContext: ("text",),
    Continue: ("context",),
    Inject: ("content",),
    ChooseNotes: ("notes",),
    RenderNotes: ("text",),
    Environment: ("variables",),
}
"""Fields of decisions whose final form stands in another record, or that may be secrets."""


class Moment:
    """Tells the time as records have it, ISO with milliseconds; `clock` gives seconds since 1970.

    A text is made once a millisecond: a busy session writes several records in one.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._millisecond = -1
        self._text = ""

    def now(self) -> str:
        """The time."""
        millisecond = int(self._clock() * 1000)
        if millisecond != self._millisecond:
            self._millisecond = millisecond
            self._text = datetime.fromtimestamp(millisecond / 1000, UTC).isoformat(timespec="milliseconds")
        return self._text


def stamped(kind: str, session: str, now: datetime, **keys: Any) -> Record:
    """A record of type `kind`; `at` is ISO time with milliseconds."""
    return {"type": kind, "at": now.isoformat(timespec="milliseconds"), "session": session, **keys}


def shown(record: Record) -> Record | None:
    """`record` with the keys that are shown, or None where its type is kept in the file only."""
    keys = PUBLIC.get(record["type"])
    if keys is None:
        return None
    if len(record) == len(keys) + 3:
        return record
    return {key: record[key] for key in ("type", "at", "session", *keys)}


def kept(record: Record) -> Record | None:
    """`record` as the session file keeps it, or None where another record says the same."""
    if record["type"] == "reply":
        return None
    if record["type"] == "tool_call" and record["asked"] != record["input"]:
        return {key: value for key, value in record.items() if key != "asked"} | {"left_out": ["asked"]}
    if record["type"] == "hook" and record["decision"]:
        return record | {"decision": _without_texts(record["decision"])}
    return record


def _without_texts(decision: Record) -> Record:
    texts = next((fields for kind, fields in _TEXTS_OF.items() if kind.__struct_config__.tag == decision["type"]), ())
    left_out = [field for field in texts if field in decision]
    slim = {key: value for key, value in decision.items() if key not in left_out}
    return slim | {"left_out": left_out} if left_out else slim


def hook_keys(call: Call) -> Record:
    """The keys of a `hook` record."""
    event, ended = call.event, call.ended
    return {
        "event": call.handler.origin.event,
        "contract": call.handler.origin.contract,
        "hook": call.handler.name,
        "call": event.call.id if isinstance(event, ToolEvent) else None,
        "target": event.target,
        "ended": ended.value if ended else None,
        "decision": None if call.decision is None else msgspec.to_builtins(call.decision),
        "error": call.error,
        "ms": round(call.ms, 3),
    }


def call_keys(call: ToolCall, asked: dict[str, Any], *, for_hook: bool = False) -> Record:
    """The keys of a `tool_call` record; those of a hook's call are marked, since the conversation knows nothing of it."""
    return {"id": call.id, "name": call.name, "input": call.input, "asked": asked} | ({"for_hook": True} if for_hook else {})


def result_keys(outcome: CallOutcome) -> Record:
    """The keys of a `tool_result` record."""
    return {
        "id": outcome.call.id,
        "name": outcome.call.name,
        "content": outcome.content,
        "is_error": outcome.is_error,
        "ran": outcome.ran,
        "ms": round(outcome.ms, 3),
    } | ({"for_hook": True} if outcome.for_hook else {})


def message_keys(message: Message) -> Record:
    """The keys of a stored `message`. A call's input is in its `tool_call` record, as it was after all rewrites; `raw`
    follows in a record of its own once no hook can change an input any more."""
    stored = msgspec.to_builtins(msgspec.structs.replace(message, raw="", calls=()))
    if message.calls:
        stored["calls"] = [{"id": call.id, "name": call.name} for call in message.calls]
    return {"message": stored}


def usage_keys(use: str, model: str, usage: Usage) -> Record:
    """The keys of a stored `usage`: what one request cost, and what it was for (`turn`, `compaction`)."""
    return {"use": use, "model": model, **msgspec.to_builtins(usage)}


def messages_of(records: Iterable[Record]) -> list[Message]:
    """The conversation that `records` of a session file tell, with every call answered.

    A call that has no result (the session was killed meanwhile) is answered as interrupted, since a provider refuses a
    history with an open call.
    """
    rebuilt = _Rebuilt()
    for record in records:
        rebuilt.take(record)
    return rebuilt.closed()


def turns_of(records: Iterable[Record]) -> int:
    """How many prompts of a session started a turn; those that were sent together count once, those that joined one not at all."""
    return max((record.get("turn", 0) for record in records if record["type"] == "prompt"), default=0)


def held_of(records: Iterable[Record]) -> Inject | None:
    """What waits for the user's next prompt."""
    held = None
    for record in records:
        if record["type"] == "held":
            held = Inject(record["content"], record["position"])
        elif record["type"] == "prompt":
            held = None
    return held


def waiting_of(records: Iterable[Record]) -> list[tuple[str, When]]:
    """The messages that the session has accepted and no turn has taken, in order; none of those that its closing gave back."""
    waiting: list[tuple[str, When]] = []
    for record in records:
        if record["type"] == "sent":
            waiting.append((record["text"], record["when"]))
        elif record["type"] == "given_back":
            waiting.clear()
        elif record["type"] == "prompt":
            given = record.get("given", record["text"])
            taken = next((at for at, (text, _) in enumerate(waiting) if text == given), None)
            if taken is not None:
                del waiting[taken]
    return waiting


class _Rebuilt:
    """A conversation in the making. Inputs of calls arrive after the message that holds the calls."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def take(self, record: Record) -> None:
        match record["type"]:
            case "tool_call" | "tool_result" if record.get("for_hook"):
                pass
            case "prompt":
                self._close_calls()
                self.messages.append(Message("user", record["text"], id=record.get("id", "")))
            case "message" if "before" in record:
                at = next((at for at, m in enumerate(self.messages) if m.id == record["before"]), len(self.messages))
                self.messages.insert(at, _message(record["message"]))
            case "message":
                self._close_calls()
                self.messages.append(_message(record["message"]))
            case "raw":
                self._set_raw(record["id"], record["raw"])
            case "tool_call":
                self._set_input(record["id"], record["input"])
            case "tool_result":
                result = Message("tool", record["content"], call_id=record["id"], tool=record["name"], is_error=record["is_error"])
                self.messages.append(result)
            case "restarted":
                self.messages = msgspec.convert(record["messages"], list[Message])

    def closed(self) -> list[Message]:
        self._close_calls()
        return self.messages

    def _set_input(self, call_id: str, value: dict[str, Any]) -> None:
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            if any(call.id == call_id for call in message.calls):
                calls = tuple(msgspec.structs.replace(c, input=value) if c.id == call_id else c for c in message.calls)
                self.messages[at] = msgspec.structs.replace(message, calls=calls)
                return

    def _set_raw(self, message_id: str, raw: str) -> None:
        for at in range(len(self.messages) - 1, -1, -1):
            if self.messages[at].id == message_id:
                self.messages[at] = msgspec.structs.replace(self.messages[at], raw=raw)
                return

    def _close_calls(self) -> None:
        """Answer the open calls of the newest reply; some models number their calls anew in each."""
        answered = set()
        for message in reversed(self.messages):
            if message.role != "tool":
                self.messages += [interrupted(call) for call in message.calls if call.id not in answered]
                return
            answered.add(message.call_id)


def _message(stored: Record) -> Message:
    calls = [{"input": {}, **call} for call in stored.get("calls", [])]
    return msgspec.convert(stored | {"calls": calls}, Message)


def interrupted(call: ToolCall) -> Message:
    """The result of a call that nobody waited for."""
    return Message("tool", INTERRUPTED, call_id=call.id, tool=call.name, is_error=True)
