"""The events that a test fires, from the tables in which plugin authors know them (crucible.md 3)."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from treblehook.contracts.crucible.events import EVENTS
from treblehook.contracts.crucible.messages import MessagesInvalid, messages_of
from treblehook.contracts.crucible.names import unknown_event
from treblehook.contracts.crucible.plain import ReturnInvalid, what
from treblehook.lifecycle import (
    BeforeExecute,
    ContextAssembled,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    ModelRequest,
    ModelResponse,
    Note,
    NoteCreated,
    NoteDeleted,
    NoteModified,
    NoteRenamed,
    NotesChosen,
    NotesRetrieved,
    PreToolCall,
    ToolCall,
    ToolFinished,
    ToolShown,
    ToolStarted,
    TurnComplete,
    WebhookReceived,
)


class EventInvalid(Exception):
    """A test fires an event that there is not, or one with fields that do not fit; the message says what is allowed."""


class Fields:
    """The table that a test gave: read field by field, with an example for what it leaves out."""

    def __init__(self, name: str, given: Mapping[Any, Any]) -> None:
        self._name = name
        self._given = given
        self._known: list[str] = []

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value = self.maybe_text(key)
        return default if value is None else value

    def maybe_text(self, key: str) -> str | None:
        """A string, or nothing."""
        value = self._read(key)
        return value if value is None or isinstance(value, str) else self._refuse(key, value, "a string")

    def number(self, key: str, default: int) -> int:
        """A whole number."""
        value = self._read(key, default)
        return value if isinstance(value, int) and not isinstance(value, bool) else self._refuse(key, value, "a whole number")

    def decimal(self, key: str, default: float) -> float:
        """A number."""
        value = self._read(key, default)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else self._refuse(key, value, "a number")

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self._read(key, default)
        return value if isinstance(value, bool) else self._refuse(key, value, "a boolean")

    def table(self, key: str) -> dict[str, Any]:
        """A table by name; an empty one is an empty list on its way here."""
        value = self._read(key, {})
        if value == []:
            return {}
        return value if isinstance(value, dict) else self._refuse(key, value, "a table with names")

    def entries(self, key: str) -> list[Any]:
        """A list."""
        value = self._read(key, [])
        if value == {}:
            return []
        return value if isinstance(value, list) else self._refuse(key, value, "a list")

    def choice(self, key: str, *choices: str) -> Any:
        """One of a few strings, by default the first."""
        value = self.text(key, choices[0])
        if value not in choices:
            raise EventInvalid(f"{self._name}: `{key}` is {what(value)}; allowed: {', '.join(choices)}")
        return value

    def end(self) -> None:
        """Raises `EventInvalid` for a field that nobody has read; `type` is the event's name anyway."""
        for key in self._given:
            if key not in self._known and key != "type":
                near = get_close_matches(str(key), self._known, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(self._known)}"
                raise EventInvalid(f"{self._name} has no field `{key}`; {hint}")

    def _read(self, key: str, default: object = None) -> object:
        self._known.append(key)
        value = self._given.get(key)
        return default if value is None else value

    def _refuse(self, key: str, value: object, wanted: str) -> NoReturn:
        raise EventInvalid(f"{self._name}: `{key}` is {what(value)}; {wanted} is needed")


def event_of(name: str, given: Mapping[Any, Any], session: str, workspace: str) -> Event:
    """The event of a crucible name. Daemon events belong to no session. Raises `EventInvalid`."""
    hook = EVENTS.get(name)
    if hook is None:
        raise EventInvalid(unknown_event(name))
    fields = Fields(name, given)
    facts: dict[str, Any] = {} if hook.of_daemon else {"session": session, "workspace": workspace}
    try:
        values = _MAKE[hook.event](fields)
    except (MessagesInvalid, ReturnInvalid) as invalid:
        raise EventInvalid(f"{name}: {invalid}") from invalid
    fields.end()
    return hook.event(**facts, **values)


def _call(fields: Fields) -> dict[str, Any]:
    return {"call": ToolCall("call_1", fields.text("tool", fields.text("name", "bash")), fields.table("args"))}


def _finished(fields: Fields) -> dict[str, Any]:
    error, result = fields.maybe_text("error"), fields.text("result")
    if error is None:
        return {**_call(fields), "content": result}
    return {**_call(fields), "content": error, "is_error": True, "covered": result}


def _shown(fields: Fields) -> dict[str, Any]:
    error, result = fields.maybe_text("error"), fields.text("result")
    return {**_call(fields), "content": result if error is None else error, "is_error": error is not None}


def _request(fields: Fields) -> dict[str, Any]:
    return {"prompt": fields.text("prompt", "Say hello."), "model": fields.text("model", "script:test")}


def _response(fields: Fields) -> dict[str, Any]:
    return {
        "turn": 1,
        "text": fields.text("response_summary", "Hello."),
        "model": fields.text("model", "script:test"),
        "duration_ms": fields.number("duration_ms", 5),
    }


def _context(fields: Fields) -> dict[str, Any]:
    given = fields.entries("messages") or [{"role": "user", "content": "Say hello."}]
    return {"messages": messages_of(given, ()), "model": fields.text("model", "script:test")}


def _retrieved(fields: Fields) -> dict[str, Any]:
    return {**_chosen(fields), "char_budget": fields.number("char_budget", 3000)}


def _chosen(fields: Fields) -> dict[str, Any]:
    notes = tuple(_note(place, entry) for place, entry in enumerate(fields.entries("results"), 1))
    fields.number("note_count", len(notes))
    return {"prompt": fields.text("user_message", "Say hello."), "notes": notes}


def _note(place: int, entry: Any) -> Note:
    where = f"results[{place}]"
    if not isinstance(entry, dict):
        raise EventInvalid(f"{where} is {what(entry)}; a table with title, score, snippet, kiln is needed")
    fields = Fields(where, entry)
    fields.number("index", place)
    title, score = fields.text("title", f"Note {place}"), fields.decimal("score", 0.5)
    note = Note(place, title, score, fields.text("snippet"), fields.maybe_text("kiln"))
    fields.end()
    return note


def _completed(fields: Fields) -> dict[str, Any]:
    fields.maybe_text("session_id")
    return {
        "outcome": "completed",
        "turns": 1,
        "prompt": fields.text("prompt", "Say hello."),
        "reply": fields.text("response", "Hello."),
        "message": fields.text("message_id", "msg_1"),
        "continuation": fields.flag("is_continuation", False),
    }


def _note_path(fields: Fields) -> dict[str, Any]:
    return {"path": fields.text("path", "Note.md"), "kiln": fields.text("kiln")}


_MAKE: Final[Mapping[type[Event], Callable[[Fields], dict[str, Any]]]] = {
    PreToolCall: _call,
    ToolFinished: _finished,
    ModelRequest: _request,
    ModelResponse: _response,
    ContextAssembled: _context,
    NotesRetrieved: _retrieved,
    NotesChosen: _chosen,
    TurnComplete: _completed,
    BeforeExecute: _call,
    ToolStarted: _call,
    ToolShown: _shown,
    FileChanged: lambda f: {"path": f.text("path", "/notes/Note.md"), "change": f.choice("kind", "created", "modified")},
    FileDeleted: lambda f: {"path": f.text("path", "/notes/Note.md")},
    FileMoved: lambda f: {"source": f.text("from", "/notes/Old.md"), "destination": f.text("to", "/notes/Note.md")},
    NoteCreated: lambda f: {**_note_path(f), "title": f.text("title", "Note")},
    NoteModified: lambda f: {**_note_path(f), "change": f.choice("change_type", "content", "frontmatter", "links", "tags")},
    NoteDeleted: lambda f: {**_note_path(f), "existed": f.flag("existed", True)},
    NoteRenamed: lambda f: {"source": f.text("from", "Old.md"), "path": f.text("to", "Note.md"), "kiln": f.text("kiln")},
    WebhookReceived: lambda f: {"name": f.text("name", "hook"), "headers": f.table("headers"), "body": f.text("body", "{}")},
}
