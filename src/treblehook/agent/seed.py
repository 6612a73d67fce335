"""A hook's seed for a task: how much of it is taken."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from treblehook.lifecycle import Message

Verdict = Literal["seeded", "trimmed", "compacted", "rejected"]


class Seed(Struct, frozen=True):
    """What came of the seed that `hook` proposed: `messages` are taken. Sizes are in tokens; `reason` says why nothing was."""

    hook: str
    outcome: Verdict
    messages: tuple[Message, ...]
    tokens: int
    proposed: int
    budget: int
    reason: str = ""


class Measured:
    """A proposed seed, message by message, beside its budget."""

    def __init__(self, hook: str, messages: Sequence[Message], budget: int, count: Callable[[str], int]) -> None:
        self.hook = hook
        self.messages = tuple(messages)
        self.budget = budget
        self._count = count
        self._sizes = [self.size(message) for message in messages]
        self.proposed = sum(self._sizes)

    def size(self, message: Message) -> int:
        """Tokens of a message alone, without what only names it."""
        content = msgspec.to_builtins(replace(message, id="", source="", source_id="", hook="", tags=(), raw=""))
        return self._count(msgspec.json.encode([content]).decode())

    def refusal(self) -> str:
        """Why none of it may be taken, "" where some may."""
        if self.budget == 0:
            return "no_budget"
        if any(size > self.budget for size in self._sizes):
            return "message_over_budget"
        return "overflow_over_limit" if self.proposed - self.budget > 3 * self.budget else ""

    def dropped(self) -> int:
        """How many of the oldest have to go until the rest fits."""
        left, at = self.proposed, 0
        while left > self.budget:
            left -= self._sizes[at]
            at += 1
        return at

    def tokens(self, start: int, end: int | None = None) -> int:
        """Tokens of a part of it."""
        return sum(self._sizes[start:end])

    def taken(self, outcome: Verdict, messages: Sequence[Message], tokens: int) -> Seed:
        """It was taken, as `messages`."""
        return Seed(self.hook, outcome, tuple(messages), tokens, self.proposed, self.budget)

    def trimmed(self, start: int) -> Seed:
        """It was taken without its oldest messages."""
        return self.taken("trimmed", self.messages[start:], self.tokens(start))

    def rejected(self, reason: str) -> Seed:
        """It was not taken."""
        return Seed(self.hook, "rejected", (), 0, self.proposed, self.budget, reason)

    def behind(self, summary: Sequence[Message], start: int) -> Seed:
        """It was taken from `start` on, as many of the newest as fit behind a `summary` of the rest."""
        room = self.budget - sum(map(self.size, summary))
        if room < 0:
            return self.rejected("message_over_budget")
        while self.tokens(start) > room:
            start += 1
        kept = (*summary, *self.messages[start:])
        return self.taken("compacted", kept, self.budget - room + self.tokens(start))
