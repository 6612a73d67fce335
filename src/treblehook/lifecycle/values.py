"""The values that events and decisions are made of."""

from typing import Any, Literal

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Struct, frozen=True):
    """One tool call of a model's reply: `input` is the JSON object that the tool receives."""

    id: str
    name: str
    input: dict[str, Any]


class Message(Struct, frozen=True, omit_defaults=True):
    """One message of a conversation.

    `calls` belongs to an assistant's message, `call_id` and `is_error` to a tool's. `source` says which event added an
    internal message (`pre_turn`, `session_start`, ...), `hook` which hook did; `source_id` names the message that it was made from, as
    that hook says. `tags` are kept for hooks that mark messages.
    `raw` is what a provider wants to get back unchanged (thinking, signatures), as JSON text; it is dropped when a hook
    changed an input of that reply.
    """

    role: Role
    text: str
    id: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    is_error: bool = False
    source: str = ""
    hook: str = ""
    tags: tuple[str, ...] = ()
    raw: str = ""
    source_id: str = ""


class PreparedCall(Struct, frozen=True):
    """A command resolved once (`shell/`): what the gate approves is what is run.

    `executable` is an absolute path, `argv` excludes it. `script` is the body of an interpreter's `-c`, `recipe` the text
    that a recipe runner would run, each None where there is none (murmur.md 3.5).
    """

    tool: str
    command: str
    executable: str
    argv: tuple[str, ...]
    script: str | None = None
    recipe: str | None = None


class ShellOutcome(Struct, frozen=True):
    """What a command that was dispatched came to; a death by signal reads 128 + signal."""

    exit_code: int
    stdout: str
    stderr: str
    duration_ms: int


class ToolManifest(Struct, frozen=True):
    """One tool description that staging writes to `tools/<binary>/murmur.yaml`."""

    binary: str
    content: str


class Note(Struct, frozen=True):
    """A retrieved note: `index` is its 1-based place in the results."""

    index: int
    title: str
    score: float
    snippet: str
    kiln: str | None = None


class NoteChoice(Struct, frozen=True):
    """A note that a hook wants injected; `snippet` replaces its text when given."""

    index: int
    snippet: str | None = None
