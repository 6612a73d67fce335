"""`task.md` of a task that is done again (murmur.md 6.3)."""

from collections.abc import Sequence

from msgspec import Struct


class Reopening(Struct, frozen=True):
    """Who sent the task back, and what for."""

    hook: str
    feedback: str


def reopened_text(original: str, reopens: Sequence[Reopening]) -> str:
    """The task as it was given, and below it all that was said about the attempts so far, each once."""
    parts = [
        original.rstrip(),
        "---",
        "# Reopen feedback",
        "The previous attempt at this task was not accepted. Take what follows into account.",
    ]
    for number, reopening in enumerate(reopens, 1):
        parts += [f"## Reopen {number} ({reopening.hook})", reopening.feedback.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"
