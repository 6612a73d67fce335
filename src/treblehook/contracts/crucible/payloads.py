"""What a Lua handler is given: the flat event of each name (crucible.md 3). `type` is the name, whatever the event holds."""

from typing import Any, Final

import msgspec

from treblehook.contracts.crucible.messages import table_of
from treblehook.lifecycle import (
    BeforeExecute,
    ContextAssembled,
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

Payload = dict[str, Any]

_SUMMARY: Final = 200
"""Characters of a reply that `post_llm_call` is shown."""


def pre_tool_call(event: PreToolCall) -> Payload:
    return {"type": "pre_tool_call", "tool": event.call.name, "args": event.call.input}


def tool_result(event: ToolFinished) -> Payload:
    call = event.call
    return {"type": "tool_result", "tool": call.name, "args": call.input, "result": event.result, "error": event.error}


def pre_llm_call(event: ModelRequest) -> Payload:
    return {"type": "pre_llm_call", "prompt": event.prompt, "model": event.model}


def post_llm_call(event: ModelResponse) -> Payload:
    summary = event.text[:_SUMMARY]
    return {"type": "post_llm_call", "response_summary": summary, "model": event.model, "duration_ms": event.duration_ms}


def transform_context(event: ContextAssembled) -> Payload:
    return {"type": "transform_context", "messages": [table_of(message) for message in event.messages], "model": event.model}


def precognition_select(event: NotesRetrieved) -> Payload:
    return {
        "type": "precognition_select",
        "user_message": event.prompt,
        "note_count": len(event.notes),
        "char_budget": event.char_budget,
        "results": [{"index": place, **_note(note)} for place, note in enumerate(event.notes, 1)],
    }


def precognition_format(event: NotesChosen) -> Payload:
    return {
        "type": "precognition_format",
        "user_message": event.prompt,
        "note_count": len(event.notes),
        "results": [_note(note) for note in event.notes],
    }


def _note(note: Note) -> Payload:
    """`kiln` is left out where no entry of `[kilns]` claims the note."""
    told: Payload = {"title": note.title, "score": float(note.score), "snippet": note.snippet}
    return {**told, "kiln": note.kiln} if note.kiln else told


def turn_complete(event: TurnComplete) -> Payload:
    """`response_length` is in bytes."""
    return {
        "type": "turn:complete",
        "session_id": event.session,
        "message_id": event.message,
        "response_length": len(event.reply.encode("utf-8", "replace")),
        "is_continuation": event.continuation,
    }


def before_execute(event: BeforeExecute) -> Payload:
    return {"type": "tool:before_execute", **_named(event.call), "args": event.call.input, "env": {}}


def display_start(event: ToolStarted) -> Payload:
    return {"type": "tool:display_start", **_named(event.call), "args": _json(event.call.input)}


def display_complete(event: ToolShown) -> Payload:
    told = {"type": "tool:display_complete", **_named(event.call), "args": _json(event.call.input), "result": event.content}
    return {**told, "error": event.content} if event.is_error else told


def _named(call: ToolCall) -> Payload:
    """The tool's name, under the key that the seed uses and under the one that these three events always had."""
    return {"tool": call.name, "name": call.name}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def file_changed(event: FileChanged) -> Payload:
    return {"type": "FileChanged", "path": event.path, "kind": event.change}


def file_deleted(event: FileDeleted) -> Payload:
    return {"type": "FileDeleted", "path": event.path}


def file_moved(event: FileMoved) -> Payload:
    return {"type": "FileMoved", "from": event.source, "to": event.destination}


def note_created(event: NoteCreated) -> Payload:
    return {"type": "note:created", "path": event.path, "title": event.title, **_kiln(event.kiln)}


def note_modified(event: NoteModified) -> Payload:
    return {"type": "note:modified", "path": event.path, "change_type": event.change, **_kiln(event.kiln)}


def note_deleted(event: NoteDeleted) -> Payload:
    return {"type": "note:deleted", "path": event.path, "existed": event.existed, **_kiln(event.kiln)}


def note_renamed(event: NoteRenamed) -> Payload:
    return {"type": "note:renamed", "from": event.source, "to": event.path, **_kiln(event.kiln)}


def _kiln(name: str) -> Payload:
    return {"kiln": name} if name else {}


def webhook_received(event: WebhookReceived) -> Payload:
    return {"type": "webhook:received", "name": event.name, "headers": event.headers, "body": event.body}
