"""Every name of an event, whosever it is: the contracts' and our own, and the events behind it."""

import difflib
from typing import Final

from msgspec import Struct

from treblehook.lifecycle import ROWS, Event
from treblehook.lifecycle import daemon_events as d
from treblehook.lifecycle import events as e
from treblehook.lifecycle import tool_events as t


class EventName(Struct, frozen=True):
    """What one name stands for: `events` in the order in which they happen; `spawned` where only subagents have it."""

    name: str
    events: tuple[type[Event], ...]
    spawned: bool = False


class UnknownEvent(Exception):
    """No contract, nor Treblehook itself, has an event of that name. `nearest` is a name that looks like it, or None."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nearest = _nearest(name)
        hint = f" Did you mean {self.nearest}?" if self.nearest else ""
        super().__init__(f"there is no event named {name!r}.{hint} Allowed, letter case counts: {', '.join(EVENT_NAMES)}")


_CONTRACTS: Final[tuple[tuple[str, *tuple[type[Event], ...]], ...]] = (
    # crucible.md 1, on_session_start and on_session_end, and the permission hook
    ("on_session_start", e.SessionStart),
    ("precognition_select", e.NotesRetrieved),
    ("precognition_format", e.NotesChosen),
    ("pre_llm_call", e.ModelRequest),
    ("transform_context", e.ContextAssembled),
    ("post_llm_call", e.ModelResponse),
    ("pre_tool_call", t.PreToolCall),
    ("cru.permissions.on_request", t.PermissionRequest),
    ("tool:display_start", t.ToolStarted),
    ("tool:before_execute", t.BeforeExecute),
    ("tool_result", t.ToolFinished),
    ("tool:display_complete", t.ToolShown),
    ("turn:complete", e.TurnComplete),
    ("on_session_end", e.SessionEnd),
    ("FileChanged", d.FileChanged),
    ("FileDeleted", d.FileDeleted),
    ("FileMoved", d.FileMoved),
    ("note:created", d.NoteCreated),
    ("note:modified", d.NoteModified),
    ("note:deleted", d.NoteDeleted),
    ("note:renamed", d.NoteRenamed),
    ("webhook:received", d.WebhookReceived),
    # murmur.md 1; a tool call and a command are asked about before they are dispatched, and told of again afterwards
    ("on-stage", e.Stage),
    ("on-session-start", e.SessionStart),
    ("on-task-start", e.TaskStart),
    ("on-inference", e.ModelResponse),
    ("on-compaction", e.ContextFull),
    ("on-tool-call", t.ToolGate, t.ToolRan),
    ("on-shell", t.ShellGate, t.ShellRan),
    ("on-task-end", e.TaskEnd),
    ("on-session-end", e.SessionEnd),
    # vera.md 1
    ("session_start", e.SessionStart),
    ("pre_turn", e.PromptSubmitted),
    ("pre_compact", e.CompactionStarting),
    ("pre_tool_use", t.ToolProposed),
    ("post_tool_use", t.ToolFinished),
    ("turn_ending", e.TurnEnding),
    ("turn_finished", e.TurnComplete),
    ("subagent_finished", e.SubagentFinished),
    ("session_end", e.SessionEnd),
    # vera.md 4.1
    ("SessionStart", e.SessionStart),
    ("UserPromptSubmit", e.PromptSubmitted),
    ("PreCompact", e.CompactionStarting),
    ("PreToolUse", t.ToolProposed),
    ("Stop", e.TurnEnding),
    ("SubagentStop", e.TurnEnding),
    ("SessionEnd", e.SessionEnd),
)
_ONLY_SPAWNED: Final = ("SubagentStop",)


def _table() -> dict[str, EventName]:
    rows = (*_CONTRACTS, *((event.__name__, event) for _, event in ROWS))
    return {row[0]: EventName(row[0], row[1:], spawned=row[0] in _ONLY_SPAWNED) for row in rows}


EVENT_NAMES: Final[dict[str, EventName]] = _table()
"""By name. A name that a contract shares with us stands for the same event."""


def event_named(name: str) -> EventName:
    """The entry of `name`, letter for letter. Raises UnknownEvent."""
    found = EVENT_NAMES.get(name)
    if found is None:
        raise UnknownEvent(name)
    return found


def _nearest(name: str) -> str | None:
    spellings: dict[str, list[str]] = {}
    for known in EVENT_NAMES:
        spellings.setdefault(_folded(known), []).append(known)
    close = difflib.get_close_matches(_folded(name), spellings, n=1)
    return difflib.get_close_matches(name, spellings[close[0]], n=1, cutoff=0)[0] if close else None


def _folded(name: str) -> str:
    """`name` without what the contracts spell differently: letter case, `_`, `-`, `:` and `.`."""
    return "".join(character for character in name.lower() if character.isalnum())
