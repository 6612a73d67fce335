"""An event that nothing has fired: what the user says of it, and examples for the rest."""

from typing import Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from treblehook.home.dry_run.calls import KnownTools, tool_event
from treblehook.home.dry_run.wish import Option, Wish, WishInvalid, flag
from treblehook.home.event_names import EventName
from treblehook.lifecycle import daemon_events as d
from treblehook.lifecycle import events as e
from treblehook.lifecycle import tool_events as t
from treblehook.lifecycle.event import Event

_RESULT: Final[dict[Option, str]] = {"result": "content", "is_error": "is_error"}
_TAKES: Final[dict[type[Event], dict[Option, str]]] = {
    e.SessionStart: {"reason": "reason"},
    e.PromptSubmitted: {"prompt": "prompt", "joined": "joined"},
    e.NotesRetrieved: {"prompt": "prompt"},
    e.NotesChosen: {"prompt": "prompt"},
    e.ModelRequest: {"prompt": "prompt"},
    e.ModelResponse: {"reply": "text"},
    e.CompactionStarting: {"reason": "reason"},
    t.ToolFinished: _RESULT,
    t.ToolRan: _RESULT,
    t.ShellRan: _RESULT,
    t.ToolShown: _RESULT,
    e.TurnEnding: {"prompt": "prompt", "reply": "reply"},
    e.TurnComplete: {"prompt": "prompt", "reply": "reply"},
    e.SubagentFinished: {"result": "text"},
    e.SessionEnd: {"reason": "reason"},
}
"""The options of each event and the fields that they set. All events take `input`, those of a tool call `tool` too."""

_EXAMPLES: Final[dict[str, Any]] = {
    "prompt": "Say hello.",
    "reply": "Hello.",
    "text": "Hello.",
    "task": "dry-run/1",
    "messages": [{"role": "user", "text": "Say hello."}],
    "char_budget": 4000,
    "turn": 0,
    "turns": 1,
    "tokens": 100_000,
    "ratio": 0.9,
    "exit_status": "ok",
    "subagent": "dry-run-subagent",
    "background": False,
    "path": "note.md",
    "source": "note.md",
    "destination": "/notes/moved.md",
    "title": "Note",
    "existed": True,
    "name": "hook",
    "headers": {},
    "body": "{}",
}
"""Values of fields that an event must have; of a choice the first stands."""

_ABSOLUTE: Final = {"path": "/notes/note.md", "source": "/notes/note.md"}
"""Files are named by absolute paths, notes inside their kiln."""


def check_options(name: EventName, wish: Wish) -> None:
    """Raises WishInvalid for an option that no event of `name` takes."""
    allowed = [flag(option) for option in get_args(Option) if any(_takes(kind, option) for kind in name.events)]
    for option in wish.options:
        if flag(option) not in allowed:
            raise WishInvalid(option, f"{name.name} does not take it. Allowed here: {', '.join(allowed)}")


def sample_event(kind: type[Event], wish: Wish, tools: KnownTools, model: str) -> Event:
    """An event of `kind`. Raises WishInvalid."""
    if issubclass(kind, t.ToolEvent):
        return tool_event(kind, wish, tools)
    values: dict[str, Any] = {} if issubclass(kind, d.DaemonEvent) else {**wish.facts()}
    if kind is e.PromptSubmitted:
        values |= {"model": model, "tools": tuple(tools.specs)}
    examples = _EXAMPLES | _ABSOLUTE if kind in (d.FileChanged, d.FileDeleted, d.FileMoved) else _EXAMPLES
    values |= {field.name: (_choices(field) or (examples[field.name],))[0] for field in fields(kind) if field.required}
    for option, name in _TAKES.get(kind, {}).items():
        if option in wish.options:
            values[name] = _allowed(kind, name, option, wish.options[option])
    return _with_fields(kind, values, wish.options.get("input", {}))


def _takes(kind: type[Event], option: Option) -> bool:
    return option == "input" or (option == "tool" and issubclass(kind, t.ToolEvent)) or option in _TAKES.get(kind, {})


def _choices(field: FieldInfo) -> tuple[Any, ...]:
    return get_args(field.type) if get_origin(field.type) is Literal else ()


def _allowed(kind: type[Event], name: str, option: Option, value: Any) -> Any:
    choices = next(_choices(field) for field in fields(kind) if field.name == name)
    if choices and value not in choices:
        raise WishInvalid(option, f"found {value!r}. Allowed here: {', '.join(choices)}")
    return value


def _with_fields(kind: type[Event], values: dict[str, Any], said: dict[str, Any]) -> Event:
    for name in said:
        if name not in kind.__struct_fields__:
            raise WishInvalid("input", f"{kind.__name__} has no field {name!r}. It has {', '.join(kind.__struct_fields__)}")
    try:
        return msgspec.convert(values | said, kind)
    except msgspec.ValidationError as error:
        raise WishInvalid("input", f"does not fit {kind.__name__}: {error}") from error
