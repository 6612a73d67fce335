"""Where hosts of sessions differ: the bounds of a turn, and what a host makes of its tasks. Everything here is an ordinary session's."""

import secrets

from msgspec import Struct

from treblehook.agent.seed import Seed
from treblehook.lifecycle import Message

BYTES_PER_TOKEN = 4


def by_bytes(text: str) -> int:
    """Tokens of `text`, as bytes / 4."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN


class Policy(Struct, frozen=True):
    """Bounds and rules of one session.

    A conversation is compacted at the part `compact_at` of the window, and again once it has grown by `compact_after` of it; with
    `compact_every_reply` that is looked at after every reply, the final one too, and at no other time. Without `summarises` only a hook
    can shorten it. A turn makes `max_requests`; a task is reopened `max_reopens` times, with `reopens_failed` also where it failed. A
    seed may take the part `seed_budget` of the window (None: as much as it likes) and be trimmed where it is over by `seed_margin` of
    that; with `seeds_first` it stands ahead of what was said before, too. With `final_artifacts` only those of a turn's last reply count.
    """

    compact_at: float = 0.85
    compact_after: float = 0.05
    compact_every_reply: bool = False
    summarises: bool = True
    max_requests: int = 200
    max_reopens: int = 1
    reopens_failed: bool = False
    seed_budget: float | None = None
    seed_margin: float = 0.10
    seeds_first: bool = False
    final_artifacts: bool = False


class TaskName(Struct, frozen=True):
    """What hooks are told of a task that begins: its id, that of its context, where it comes from, tokens of what was said before."""

    id: str
    context: str = ""
    source: str = "prompt"
    prior_tokens: int = 0


class TaskKeeper:
    """Whoever keeps a session's tasks: names them, counts tokens, and is told what becomes of them. By itself it does no more."""

    def name(self) -> TaskName:
        """The task that is about to begin."""
        return TaskName(f"tsk_{secrets.token_hex(16)}")

    def count(self, text: str) -> int:
        """How many tokens `text` has."""
        return by_bytes(text)

    def seeded(self, seed: Seed) -> None:
        """A hook wanted to seed the task; this is what came of it."""

    def reopened(self, hook: str, feedback: str) -> str | None:
        """The task is done again. Answers what the next attempt is asked in place of all that the task was; None adds the feedback."""
        return None

    def exhausted(self, hook: str) -> None:
        """A hook wanted to reopen the task, which may not be any more."""

    def compacted(self, before: int, after: int, messages: tuple[Message, ...]) -> None:
        """A hook's `messages` have replaced the conversation, which had `before` tokens and now has `after`."""

    def not_compacted(self, tokens: int, reason: str) -> None:
        """The conversation is full and stays as it is."""
