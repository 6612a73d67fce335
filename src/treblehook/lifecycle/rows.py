"""The lifecycle table: every event in the order in which it happens (design, section 3)."""

from treblehook.lifecycle import daemon_events as d
from treblehook.lifecycle import events as e
from treblehook.lifecycle import tool_events as t
from treblehook.lifecycle.event import Event

ROWS: tuple[tuple[str, type[Event]], ...] = (
    ("1", e.Stage),
    ("2", e.SessionStart),
    ("3", e.PromptSubmitted),
    ("4", e.TaskStart),
    ("5", e.NotesRetrieved),
    ("5", e.NotesChosen),
    ("6", e.ModelRequest),
    ("7", e.ContextAssembled),
    ("8", e.ModelResponse),
    ("9", e.CompactionStarting),
    ("9", e.ContextFull),
    ("10", t.ToolProposed),
    ("11", t.PreToolCall),
    ("12", t.PermissionRequest),
    ("13", t.ToolStarted),
    ("14", t.BeforeExecute),
    ("15", t.ToolGate),
    ("15", t.ShellGate),
    ("16", t.ToolFinished),
    ("16", t.ToolRan),
    ("16", t.ShellRan),
    ("17", t.ToolShown),
    ("18", e.TurnEnding),
    ("18", e.TaskEnd),
    ("19", e.TurnComplete),
    ("20", e.SubagentFinished),
    ("21", e.SessionEnd),
    ("d", d.FileChanged),
    ("d", d.FileDeleted),
    ("d", d.FileMoved),
    ("d", d.NoteCreated),
    ("d", d.NoteModified),
    ("d", d.NoteDeleted),
    ("d", d.NoteRenamed),
    ("d", d.WebhookReceived),
)
