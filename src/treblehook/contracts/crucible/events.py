"""The table of the nineteen events: which of ours each is, what its handlers are given, and what their returns mean (crucible.md 3)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.crucible import note_answers, payloads, tool_answers, turn_answers
from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.payloads import Payload
from treblehook.contracts.crucible.returned import Returned
from treblehook.engine import OnFailure
from treblehook.lifecycle import (
    BeforeExecute,
    ContextAssembled,
    Decision,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    ModelRequest,
    ModelResponse,
    NoteCreated,
    NoteDeleted,
    NoteModified,
    NoteRenamed,
    NotesChosen,
    NotesRetrieved,
    PreToolCall,
    ToolFinished,
    ToolShown,
    ToolStarted,
    TurnComplete,
    WebhookReceived,
)


class HookEvent(Struct, frozen=True):
    """One name that `cru.on` takes.

    `identifier` says what a pattern is matched with, "" where there is nothing. `keys` are those of a returned table that count,
    `directives` the ones among cancel, handled and inject that are honoured. Where `when` is false the handlers are not asked.
    """

    name: str
    event: type[Event]
    payload: Callable[[Any], Payload]
    answer: Callable[[Returned, Any, Author], Decision | None]
    identifier: str = ""
    keys: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    on_failure: OnFailure = OnFailure.OPEN
    when: Callable[[Any], bool] | None = None

    @property
    def of_daemon(self) -> bool:
        """Whether it belongs to no session, and so reaches the plugin machine only (crucible.md D9)."""
        return self.answer is turn_answers.daemon_event


_TOOL: Final = "tool name"
_PATH: Final = "kiln-relative note path"
_STOP: Final = ("cancel",)
_daemon = turn_answers.daemon_event


def _normal(event: TurnComplete) -> bool:
    """`turn:complete` tells of no turn that failed, was stopped, or that hooks ended by their results (crucible.md 3.8)."""
    return event.outcome == "completed" and not event.terminated


_ALL: Final = (
    HookEvent("FileChanged", FileChanged, payloads.file_changed, _daemon, directives=_STOP),
    HookEvent("FileDeleted", FileDeleted, payloads.file_deleted, _daemon, directives=_STOP),
    HookEvent("FileMoved", FileMoved, payloads.file_moved, _daemon, directives=_STOP),
    HookEvent("note:created", NoteCreated, payloads.note_created, _daemon, _PATH, directives=_STOP),
    HookEvent("note:modified", NoteModified, payloads.note_modified, _daemon, _PATH, directives=_STOP),
    HookEvent("note:deleted", NoteDeleted, payloads.note_deleted, _daemon, _PATH, directives=_STOP),
    HookEvent("note:renamed", NoteRenamed, payloads.note_renamed, _daemon, "destination path", directives=_STOP),
    HookEvent("webhook:received", WebhookReceived, payloads.webhook_received, _daemon, "webhook name", directives=_STOP),
    HookEvent(
        "pre_tool_call",
        PreToolCall,
        payloads.pre_tool_call,
        tool_answers.pre_tool_call,
        _TOOL,
        ("args",),
        ("cancel", "handled"),
        OnFailure.CLOSED,
    ),
    HookEvent("tool_result", ToolFinished, payloads.tool_result, tool_answers.tool_result, _TOOL, ("result", "error")),
    HookEvent("pre_llm_call", ModelRequest, payloads.pre_llm_call, turn_answers.pre_llm_call, "", ("prompt",), _STOP),
    HookEvent("post_llm_call", ModelResponse, payloads.post_llm_call, turn_answers.observed),
    HookEvent("transform_context", ContextAssembled, payloads.transform_context, turn_answers.transform_context, "", ("messages",), _STOP),
    HookEvent("precognition_select", NotesRetrieved, payloads.precognition_select, note_answers.precognition_select),
    HookEvent("precognition_format", NotesChosen, payloads.precognition_format, note_answers.precognition_format),
    HookEvent("turn:complete", TurnComplete, payloads.turn_complete, turn_answers.turn_complete, directives=("inject",), when=_normal),
    HookEvent("tool:before_execute", BeforeExecute, payloads.before_execute, tool_answers.before_execute, _TOOL, ("env",)),
    HookEvent(
        "tool:display_start",
        ToolStarted,
        payloads.display_start,
        tool_answers.display_start,
        _TOOL,
        ("label", "detail", "primary_arg", "max_lines"),
    ),
    HookEvent(
        "tool:display_complete", ToolShown, payloads.display_complete, tool_answers.display_complete, _TOOL, ("summary", "max_lines")
    ),
)

EVENTS: Final[Mapping[str, HookEvent]] = {event.name: event for event in _ALL}
"""By name, in the canonical order."""
