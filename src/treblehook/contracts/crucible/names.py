"""The closed set of event names, and the nearest one to a name that is not in it (crucible.md 1 and 2.3)."""

from typing import Final

DAEMON_EVENTS: Final = (
    "FileChanged",
    "FileDeleted",
    "FileMoved",
    "note:created",
    "note:modified",
    "note:deleted",
    "note:renamed",
    "webhook:received",
)
TURN_STAGES: Final = (
    "pre_tool_call",
    "tool_result",
    "pre_llm_call",
    "post_llm_call",
    "transform_context",
    "precognition_select",
    "precognition_format",
    "turn:complete",
    "tool:before_execute",
    "tool:display_start",
    "tool:display_complete",
)
EVENT_NAMES: Final = DAEMON_EVENTS + TURN_STAGES
"""In the canonical order, which decides between names that are equally near."""

_NEAR: Final = 3
"""Up to this distance the nearest name is most likely what was meant."""
_COMPARED: Final = 200
"""A name as long as a book is no misspelling, and need not be compared whole; in characters, as the next."""
_SHOWN: Final = 80


def distance(one: str, other: str) -> int:
    """How many characters must be inserted, deleted or replaced to make `one` of `other`."""
    row = list(range(len(other) + 1))
    for count, character in enumerate(one, 1):
        diagonal, row[0] = row[0], count
        for at, wanted in enumerate(other, 1):
            diagonal, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, diagonal + (character != wanted))
    return row[-1]


def nearest(name: str, names: tuple[str, ...] = EVENT_NAMES) -> str:
    """The one of `names` with the smallest distance to `name`; the first of several."""
    start = name[:_COMPARED]
    return min(names, key=lambda known: distance(start, known))


def unknown_event(name: str) -> str:
    """What is wrong with `name`, in one line: the nearest name, and all of them where none is near."""
    closest = nearest(name)
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name[:_SHOWN]) + "…" * (len(name) > _SHOWN)
    problem = f"unknown event `{shown}`, did you mean `{closest}`?"
    if distance(name[:_COMPARED], closest) <= _NEAR:
        return problem
    return f"{problem} Events are: {', '.join(EVENT_NAMES)}"
