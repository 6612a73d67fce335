"""The events of a session, a turn and a task: rows 1 to 9 and 18 to 21 of the lifecycle table (design, section 3)."""

from typing import ClassVar, Literal, Self

from msgspec import UNSET
from msgspec.structs import replace

from treblehook.lifecycle.decisions import (
    AddContext,
    Artifact,
    Block,
    ChooseNotes,
    Continue,
    Inject,
    Refuse,
    RenderNotes,
    Reopen,
    ReplaceContext,
    Rewrite,
    SeedContext,
    WriteManifests,
)
from treblehook.lifecycle.event import Accepts, Event, Fold, Keep
from treblehook.lifecycle.values import Message, Note


class Stage(Event, Accepts[WriteManifests], frozen=True, kw_only=True):
    """Row 1: a session is being put together; nothing has been asked of a model."""

    fold: ClassVar[Fold] = Fold.GATHER
    shell_allow: tuple[str, ...] = ()


class SessionStart(Event, Accepts[AddContext | Refuse], frozen=True, kw_only=True):
    """Row 2: a conversation starts, is resumed, or has just been compacted.

    All are asked; a refusal refuses after all were asked.
    """

    fold: ClassVar[Fold] = Fold.GATHER
    reason: Literal["start", "resume", "compacted"] = "start"
    model: str = ""


class PromptSubmitted(Event, Accepts[AddContext | Rewrite | Block], frozen=True, kw_only=True):
    """Row 3: a user's message, before the model sees it; once per message.

    `tools` are the names offered right now. `joined` is true for a message that arrived while a turn was running.
    """

    fold: ClassVar[Fold] = Fold.CHAIN
    rewrites: ClassVar[frozenset[str]] = frozenset({"tools", "model", "effort"})
    prompt: str
    model: str = ""
    tools: tuple[str, ...] = ()
    effort: str = ""
    joined: bool = False

    def rewritten(self, change: Rewrite) -> Self:
        """Tools are narrowed, never added; a joining message keeps model and effort (vera.md 3.4)."""
        kept: dict[str, object] = {}
        if change.tools is not UNSET:
            kept["tools"] = narrowed(self.tools, change.tools)
        for name in ("model", "effort"):
            value = getattr(change, name)
            if value is not UNSET and not self.joined:
                kept[name] = value
        return replace(self, **kept)


def narrowed(offered: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """`offered` cut down to `wanted` (vera.md 3.4): unknown names are dropped, a wish of which nothing survives is
    ignored, an empty wish offers nothing, and `bash` keeps its companion `process`."""
    if not wanted:
        return ()
    keep = set(wanted) | ({"process"} if "bash" in wanted else set())
    left = tuple(name for name in offered if name in keep)
    return left or offered


class TaskStart(Event, Accepts[SeedContext], frozen=True, kw_only=True):
    """Row 4: a task's work begins; once per task. Sizes are in tokens, `input_bytes` in bytes."""

    fold: ClassVar[Fold] = Fold.GATHER
    keep: ClassVar[Keep] = Keep.FIRST
    task: str
    context: str = ""
    source: str = "task_md"
    input_bytes: int = 0
    budget_tokens: int = 0
    context_window: int = 0
    prior_tokens: int = 0


class NotesRetrieved(Event, Accepts[ChooseNotes], frozen=True, kw_only=True):
    """Row 5: notes were found for a prompt; a hook may choose among them. `char_budget` is in characters."""

    fold: ClassVar[Fold] = Fold.FIRST
    prompt: str
    char_budget: int
    notes: tuple[Note, ...] = ()


class NotesChosen(Event, Accepts[RenderNotes], frozen=True, kw_only=True):
    """Row 5: the notes that will be injected; a hook may write their text."""

    fold: ClassVar[Fold] = Fold.FIRST
    prompt: str
    notes: tuple[Note, ...] = ()


class ModelRequest(Event, Accepts[Rewrite | Block], frozen=True, kw_only=True):
    """Row 6: before each request to a provider, always with the turn's original prompt."""

    fold: ClassVar[Fold] = Fold.CHAIN
    rewrites: ClassVar[frozenset[str]] = frozenset({"prompt"})
    prompt: str
    model: str = ""


class ContextAssembled(Event, Accepts[Rewrite | Block], frozen=True, kw_only=True):
    """Row 7: the whole message list of a turn; what comes out stands for the turn."""

    fold: ClassVar[Fold] = Fold.CHAIN
    rewrites: ClassVar[frozenset[str]] = frozenset({"messages"})
    messages: tuple[Message, ...]
    model: str = ""


class ModelResponse(Event, Accepts[Artifact], frozen=True, kw_only=True):
    """Row 8: a reply has been received whole. `prompt`, `output` and `tools` are JSON texts as sent and received."""

    fold: ClassVar[Fold] = Fold.GATHER
    turn: int
    text: str
    model: str = ""
    decision: Literal["tool_call", "end_turn", "text"] = "end_turn"
    tool: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: int = 0
    prompt: str | None = None
    output: str | None = None
    tools: str | None = None


class CompactionStarting(Event, frozen=True, kw_only=True):
    """Row 9: a compaction starts. `tokens` is estimated; `capacity` is None where the window is not known."""

    reason: Literal["manual", "automatic"]
    tokens: int
    capacity: int | None = None


class ContextFull(Event, Accepts[ReplaceContext], frozen=True, kw_only=True):
    """Row 9: the conversation no longer fits; a hook may replace it. `ratio` is tokens / window."""

    fold: ClassVar[Fold] = Fold.GATHER
    keep: ClassVar[Keep] = Keep.FIRST
    messages: tuple[Message, ...]
    tokens: int
    ratio: float
    model: str | None = None
    system_prompt: str | None = None


class TurnEnding(Event, Accepts[Continue], frozen=True, kw_only=True):
    """Row 18: the model made a final reply without tool calls and stopped normally."""

    fold: ClassVar[Fold] = Fold.FIRST
    prompt: str
    reply: str
    continuations: int = 0


class TaskEnd(Event, Accepts[Reopen], frozen=True, kw_only=True):
    """Row 18: a task's loop returned, on whatever path."""

    fold: ClassVar[Fold] = Fold.GATHER
    keep: ClassVar[Keep] = Keep.FIRST
    task: str
    exit_status: str


class TurnComplete(Event, Accepts[Inject], frozen=True, kw_only=True):
    """Row 19: a turn is over. `turns` counts the prompts that the session has had, `message` is the id of the last reply.

    `continuation` is true where a hook sent the model back, `terminated` where hooks ended the turn by replacing every call of a
    reply; it has no final reply then.
    """

    fold: ClassVar[Fold] = Fold.GATHER
    keep: ClassVar[Keep] = Keep.LAST
    outcome: Literal["completed", "error", "aborted"]
    turns: int
    prompt: str = ""
    reply: str = ""
    message: str = ""
    continuation: bool = False
    terminated: bool = False


class SubagentFinished(Event, frozen=True, kw_only=True):
    """Row 20: a subagent hands its result back; `session` is the parent."""

    subagent: str
    background: bool
    outcome: Literal["completed", "error"]
    text: str


class SessionEnd(Event, frozen=True, kw_only=True):
    """Row 21: a session closes. `turns` counts the prompts that it has had, `requests` the replies of its model."""

    reason: Literal["detached", "closed", "idle", "deleted", "shutdown", "refused"]
    turns: int = 0
    requests: int = 0
    tool_calls: int = 0
    shell_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: int = 0
    exit_status: str = "ok"
