"""One side question to an open session, as a hook may put it."""

from typing import Protocol

from msgspec import Struct


class SideAnswer(Struct, frozen=True):
    """What the model answered; `provider` and `model` are the two halves of its SPEC."""

    text: str
    model: str
    provider: str


class AskRefused(Exception):
    """The question has no answer; the message says why."""


class AskSession(Protocol):
    """Sends a session's last model request again with a question added; the session gains nothing but what it cost."""

    async def __call__(self, session: str, question: str, max_tokens: int) -> SideAnswer:
        """The answer; `max_tokens` 0 leaves the bound to the provider. Raises `AskRefused`."""
