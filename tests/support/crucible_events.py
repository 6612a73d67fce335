"""One event for each name that `cru.on` takes."""

from treblehook.host.facts import EventFields
from treblehook.lifecycle import (
    BeforeExecute,
    ContextAssembled,
    Event,
    FileChanged,
    FileDeleted,
    FileMoved,
    Message,
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


def sample_events() -> dict[str, Event]:
    """One event for each of the nineteen names."""
    call = ToolCall("c1", "bash", {"command": "ls"})
    note = Note(1, "Chest", 0.9, "gold", "notes")
    session: EventFields = {"session": "s1", "workspace": "/ws", "spawned": False}
    return {
        "FileChanged": FileChanged(path="/kiln/a.md", change="created"),
        "FileDeleted": FileDeleted(path="/kiln/a.md"),
        "FileMoved": FileMoved(source="/kiln/a.md", destination="/kiln/b.md"),
        "note:created": NoteCreated(path="a.md", title="A"),
        "note:modified": NoteModified(path="a.md"),
        "note:deleted": NoteDeleted(path="a.md", existed=True),
        "note:renamed": NoteRenamed(source="a.md", path="b.md"),
        "webhook:received": WebhookReceived(name="ci", headers={"x-github-event": "push"}, body='{"a":1}'),
        "pre_tool_call": PreToolCall(call=call, **session),
        "tool_result": ToolFinished(call=call, content="out", **session),
        "pre_llm_call": ModelRequest(prompt="p", model="m", **session),
        "post_llm_call": ModelResponse(turn=0, text="reply", model="m", duration_ms=12, **session),
        "transform_context": ContextAssembled(messages=(Message("user", "hi", id="m1"),), model="m", **session),
        "precognition_select": NotesRetrieved(prompt="p", char_budget=3000, notes=(note,), **session),
        "precognition_format": NotesChosen(prompt="p", notes=(note,), **session),
        "turn:complete": TurnComplete(outcome="completed", turns=1, reply="é", message="m9", **session),
        "tool:before_execute": BeforeExecute(call=call, **session),
        "tool:display_start": ToolStarted(call=call, **session),
        "tool:display_complete": ToolShown(call=call, content="out", **session),
    }
