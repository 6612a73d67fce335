"""Texts that hooks hand in for a session's next context."""

from typing import Final

from treblehook.host.reach import ReachRefused
from treblehook.lifecycle import Message

ATTACHMENT_TAG: Final = "attachment"
LONGEST: Final = 2000
"""Characters of all texts that wait in one session."""


class Attachments:
    """What waits for one session's next context, in the order in which it was attached."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def attach(self, text: str, key: str = "") -> None:
        """Keep `text` in place of an earlier one of the same `key`; without a key, an equal text. A blank text only takes that away.

        Raises `ReachRefused` where all that waits would be longer than `LONGEST`; what waited before stays.
        """
        named = key or text
        others = sum(len(waiting) for name, waiting in self._waiting.items() if name != named)
        if others + len(text) > LONGEST:
            raise ReachRefused(
                f"this attachment has {len(text)} characters; of the {LONGEST} that a session's next context takes, "
                f"{LONGEST - others} are left"
            )
        self._waiting.pop(named, None)
        if text.strip():
            self._waiting[named] = text

    def take(self) -> tuple[Message, ...]:
        """What waits, as one message; it waits no more."""
        texts = list(self._waiting.values())
        self._waiting.clear()
        if not texts:
            return ()
        return (Message("system", "\n\n".join(texts), source=ATTACHMENT_TAG, tags=(ATTACHMENT_TAG,)),)
