"""The events of one tool call: rows 10 to 17 of the lifecycle table (design, section 3)."""

from typing import Any, ClassVar, Self

from msgspec import UNSET
from msgspec.structs import replace

from treblehook.lifecycle.decisions import (
    Allow,
    Ask,
    Block,
    Deny,
    Display,
    Environment,
    Refuse,
    Replace,
    Rewrite,
)
from treblehook.lifecycle.event import Accepts, Event, Fold, Keep
from treblehook.lifecycle.values import PreparedCall, ShellOutcome, ToolCall


class ToolEvent(Event, frozen=True, kw_only=True):
    """An event of one tool call; its target is the tool's name."""

    targeted: ClassVar[bool] = True
    call: ToolCall

    @property
    def target(self) -> str | None:
        """The tool's name."""
        return self.call.name

    def with_input(self, value: dict[str, Any]) -> Self:
        """This event with another input for the same call."""
        return replace(self, call=replace(self.call, input=value))


class ComingCall(ToolEvent, Accepts[Rewrite | Block | Replace], frozen=True, kw_only=True):
    """A call that may still be changed, stopped or replaced."""

    fold: ClassVar[Fold] = Fold.CHAIN
    rewrites: ClassVar[frozenset[str]] = frozenset({"input"})

    def rewritten(self, change: Rewrite) -> Self:
        """The call with its new input, as a whole."""
        return self if change.input is UNSET else self.with_input(change.input)


class ToolProposed(ComingCall, frozen=True, kw_only=True):
    """Row 10: for every call of a reply, in reply order, before any tool of that reply starts."""


class PreToolCall(ComingCall, frozen=True, kw_only=True):
    """Row 11: this call's turn has come."""


class PermissionRequest(ToolEvent, Accepts[Allow | Deny | Ask], frozen=True, kw_only=True):
    """Row 12: the rules want the user asked about the rewritten call."""

    fold: ClassVar[Fold] = Fold.FIRST


class ToolStarted(ToolEvent, Accepts[Display], frozen=True, kw_only=True):
    """Row 13: a card for the call is about to be shown."""

    fold: ClassVar[Fold] = Fold.FIRST


class BeforeExecute(ToolEvent, Accepts[Environment], frozen=True, kw_only=True):
    """Row 14: the environment of the command; the nearer tier wins per key."""

    fold: ClassVar[Fold] = Fold.GATHER
    keep: ClassVar[Keep] = Keep.PER_KEY


class ToolGate(ToolEvent, Accepts[Refuse], frozen=True, kw_only=True):
    """Row 15: right at the dispatch of a tool. `input_json` is the exact text that the tool receives."""

    fold: ClassVar[Fold] = Fold.GATE
    input_json: str
    turn: int = 0


class ShellGate(ToolEvent, Accepts[Refuse], frozen=True, kw_only=True):
    """Row 15: right at the dispatch of a command; `prepared` is the very value that is run."""

    fold: ClassVar[Fold] = Fold.GATE
    prepared: PreparedCall
    turn: int = 0


class ToolFinished(ToolEvent, Accepts[Rewrite], frozen=True, kw_only=True):
    """Row 16: the tool ran, or was replaced. `content` is the full text; `duration_ms` is 0 for a replaced call.

    An error that a hook sets covers the result, which the hooks that follow still see (crucible.md 3.2).
    """

    fold: ClassVar[Fold] = Fold.CHAIN
    rewrites: ClassVar[frozenset[str]] = frozenset({"content", "is_error", "covered"})
    content: str
    is_error: bool = False
    duration_ms: float = 0.0
    covered: str = ""

    @property
    def result(self) -> str:
        """The text of the result, an error set over it or not; "" where the tool itself failed."""
        return self.covered if self.is_error else self.content

    @property
    def error(self) -> str | None:
        """The text of the error, None where there is none."""
        return self.content if self.is_error else None

    def rewritten(self, change: Rewrite) -> Self:
        """The text and the flag as changed; a result that becomes an error is kept as `covered`, unless that is changed too."""
        changed = super().rewritten(change)
        if not changed.is_error:
            return replace(changed, covered="")
        return changed if self.is_error or change.covered is not UNSET else replace(changed, covered=self.content)


class ToolRan(ToolEvent, frozen=True, kw_only=True):
    """Row 16: whatever was dispatched, seen afterwards; never a replaced call."""

    content: str
    is_error: bool = False
    duration_ms: int = 0
    turn: int = 0


class ShellRan(ToolEvent, frozen=True, kw_only=True):
    """Row 16: a command that ran to completion, with the text as patched for the model."""

    prepared: PreparedCall
    outcome: ShellOutcome
    turn: int = 0


class ToolShown(ToolEvent, Accepts[Display], frozen=True, kw_only=True):
    """Row 17: the card of a finished call."""

    fold: ClassVar[Fold] = Fold.FIRST
    content: str
    is_error: bool = False
