"""What a handler may answer. `None` is a pass, and a pass is not an allow.

A decision's `kind` is all that the engine's folds read; what it means at an event is the host's business.
"""

from enum import Enum
from typing import Any, ClassVar, Literal

from msgspec import UNSET, Struct, UnsetType

from treblehook.lifecycle.values import Message, NoteChoice, ToolManifest


class Kind(Enum):
    """How a fold treats a decision."""

    REWRITE = "rewrite"
    """changes the event that later handlers see"""
    CONTRIBUTION = "contribution"
    """rides along"""
    ANSWER = "answer"
    """settles the dispatch"""
    REFUSAL = "refusal"
    """settles the dispatch, and nothing later undoes it"""
    STOP = "stop"
    """spares the handlers that follow"""


def _tag(name: str) -> str:
    """`AddContext` as `add_context`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class Decision(Struct, frozen=True, omit_defaults=True, tag_field="type", tag=_tag):
    """Base of all decisions; encodes as a JSON object with `type`."""

    kind: ClassVar[Kind] = Kind.ANSWER


class Block(Decision, frozen=True):
    """The thing that was about to happen does not; `reason` is what the model or the user is told."""

    kind: ClassVar[Kind] = Kind.REFUSAL
    reason: str


class Refuse(Decision, frozen=True):
    """A session does not start, or a gate stays shut."""

    kind: ClassVar[Kind] = Kind.REFUSAL
    reason: str


class AddContext(Decision, frozen=True):
    """Text for the model; `display` is the one line that the transcript shows in its place."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    text: str
    display: str = ""


class Rewrite(Decision, frozen=True):
    """Changes fields of the event; an event takes only the fields that it names in `rewrites`.

    `context` adds text in the same breath, as `AddContext` does alone. `covered` is a tool's result beneath an error.
    """

    kind: ClassVar[Kind] = Kind.REWRITE
    input: dict[str, Any] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    is_error: bool | UnsetType = UNSET
    covered: str | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    messages: tuple[Message, ...] | UnsetType = UNSET
    tools: tuple[str, ...] | UnsetType = UNSET
    model: str | UnsetType = UNSET
    effort: str | UnsetType = UNSET
    context: AddContext | None = None

    def fields(self) -> frozenset[str]:
        """The names of the event fields that this rewrite sets."""
        return frozenset(name for name in EVENT_FIELDS if getattr(self, name) is not UNSET)


EVENT_FIELDS = tuple(name for name in Rewrite.__struct_fields__ if name != "context")


class Replace(Decision, frozen=True):
    """The tool is not run; this is its result. `terminate` asks the loop to stop after this batch of calls."""

    content: str
    is_error: bool = False
    terminate: bool = False


class Allow(Decision, frozen=True):
    """A permission is granted without asking."""


class Deny(Decision, frozen=True):
    """A permission is denied."""

    reason: str = ""


class Ask(Decision, frozen=True):
    """The user decides."""


class Continue(Decision, frozen=True):
    """The model is sent back for one more pass with this context."""

    context: str
    display: str = ""


class Display(Decision, frozen=True):
    """How a tool card looks; the result for the model is untouched."""

    label: str = ""
    detail: str = ""
    primary_arg: str = ""
    summary: str = ""
    max_lines: int | None = None


class Environment(Decision, frozen=True):
    """Environment variables for the command that is about to run."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    variables: dict[str, str]


class ChooseNotes(Decision, frozen=True):
    """Which retrieved notes are injected, in this order; none is a decision too."""

    notes: tuple[NoteChoice, ...]


class RenderNotes(Decision, frozen=True):
    """The whole text that stands in front of the context; blank text injects nothing."""

    text: str


class WriteManifests(Decision, frozen=True):
    """Tool manifests that staging writes."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    manifests: tuple[ToolManifest, ...]


class SeedContext(Decision, frozen=True):
    """Messages for the head of a task's first message list."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    messages: tuple[Message, ...]


class ReplaceContext(Decision, frozen=True):
    """The conversation as it goes on from here."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    messages: tuple[Message, ...]


class Artifact(Decision, frozen=True):
    """Something for the task's event stream."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    content: str


class Reopen(Decision, frozen=True):
    """The task's loop runs again with this feedback."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    feedback: str


class Inject(Decision, frozen=True):
    """Text that is held and joined to the user's next prompt."""

    kind: ClassVar[Kind] = Kind.CONTRIBUTION
    content: str
    position: Literal["user_prefix", "user_suffix"] = "user_prefix"


class Stop(Decision, frozen=True):
    """The handlers that follow are not told of this occurrence."""

    kind: ClassVar[Kind] = Kind.STOP
