"""The rows of the capability table that are the same for every agent that runs elsewhere: what it keeps to itself, and what needs none."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from treblehook.gateway.codec import Support
from treblehook.lifecycle import (
    ROWS,
    BeforeExecute,
    ContextAssembled,
    ContextFull,
    Event,
    ModelRequest,
    ModelResponse,
    NotesChosen,
    NotesRetrieved,
    PromptSubmitted,
    Rewrite,
    Stage,
    TaskStart,
    ToolShown,
    ToolStarted,
)

_KEPT: Final[dict[type[Event], str]] = {
    Stage: "it is not we who put its sessions together",
    NotesRetrieved: "it looks up no notes of ours",
    NotesChosen: "it looks up no notes of ours",
    ModelRequest: "its requests to a model do not pass us",
    ContextAssembled: "its requests to a model do not pass us",
    ModelResponse: "its model's replies do not pass us",
    ContextFull: "it compacts its conversation itself",
    ToolStarted: "it draws its own cards",
    BeforeExecute: "it sets the environment of its commands itself",
    ToolShown: "it draws its own cards",
}


def honoured(event: type[Event], *otherwise: Support) -> tuple[Support, ...]:
    """`event` as a whole and each decision that it accepts: honoured, but for the rows of it in `otherwise`."""
    other = {row.decision: row for row in otherwise}
    return tuple(other.get(decision) or Support(event, decision, "honoured") for decision in (None, *event.accepts))


def unasked(event: type[Event], why: str) -> tuple[Support, ...]:
    """`event` as a whole and each decision that it accepts, where the agent never gets there."""
    return tuple(Support(event, decision, "unasked", why) for decision in (None, *event.accepts))


def with_gap(rows: Iterable[Support], event: type[Event], gap: str) -> Iterator[Support]:
    """`rows`, where that of `event` as a whole says what happens in the agent without a word to hooks."""
    return (replace(row, instead=gap) if row.event is event and row.decision is None else row for row in rows)


TYPED: Final = "a command that the user types behind a ! calls no hook"
UNSEEN_INPUT: Final = "where another hook of the agent's, which is not ours, gives a call a new input, no hook here has seen what runs"
"""Gaps before a tool. Agents ask all hooks about the call as it came, or those after ours about what we have left."""

ELSEWHERE: Final = (
    *(row for event, why in _KEPT.items() for row in unasked(event, why)),
    *honoured(
        PromptSubmitted,
        Support(
            PromptSubmitted,
            Rewrite,
            "lost",
            "its model and effort stay as they are; where a hook offers fewer tools, calls of the others are refused",
        ),
    ),
    *honoured(TaskStart),
    *(row for number, event in ROWS if number == "d" for row in honoured(event)),
)
"""Rows 1, 5 to 8, 13, 14 and 17 and half of 9 stay inside the agent; rows 3 and 4 are the same everywhere; row d is fired by our daemon."""
