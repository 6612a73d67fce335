"""The rows of the capability table that are the same for every agent that runs elsewhere: what it keeps to itself, and what needs none."""

from typing import Final

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
