"""Messages on their way into a session, from its user and from hooks, until a turn takes them."""

import asyncio
from collections import deque
from typing import Literal

from msgspec import Struct

from treblehook.host.reach import ReachRefused

When = Literal["idle", "now"]


class _Letter(Struct, eq=False):
    text: str
    taken: "asyncio.Future[bool]"


class Inbox:
    """What waits: `now` for the next tool boundary, or for a turn at once where none runs; `idle` for a turn of its own.

    `arrived` is set while something waits, and once the inbox is closed.
    """

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self._now: list[_Letter] = []
        self._idle: deque[_Letter] = deque()
        self._closed = False

    def send(self, text: str, when: When) -> "asyncio.Future[bool]":
        """Accept a message. The future comes to true once a turn has taken it, and to false where the session was closed before.

        Raises `ReachRefused` where the session is being closed already.
        """
        if self._closed:
            raise ReachRefused("the session is being closed and takes no more messages")
        letter = _Letter(text, asyncio.get_running_loop().create_future())
        (self._now if when == "now" else self._idle).append(letter)
        self.arrived.set()
        return letter.taken

    def take_now(self) -> list[str]:
        """What was sent `now`, in order."""
        letters, self._now = self._now, []
        return self._taken(letters)

    def next_turn(self) -> list[str]:
        """What the next turn is for: all that was sent `now`, else the first that waits for its own."""
        return self.take_now() or self._taken([self._idle.popleft()] if self._idle else [])

    def close(self) -> list[str]:
        """Accept nothing more; answers what nobody has taken."""
        letters = [*self._now, *self._idle]
        self._now.clear()
        self._idle.clear()
        self._closed = True
        self.arrived.set()
        return _settled(letters, taken=False)

    def _taken(self, letters: list[_Letter]) -> list[str]:
        if not (self._now or self._idle or self._closed):
            self.arrived.clear()
        return _settled(letters, taken=True)


def _settled(letters: list[_Letter], *, taken: bool) -> list[str]:
    for letter in letters:
        if not letter.taken.done():
            # Whoever sent it may have stopped waiting.
            letter.taken.set_result(taken)
    return [letter.text for letter in letters]
