"""The messages that are sent to one session, and what becomes of each."""

import asyncio
from collections.abc import Callable
from typing import Final, Literal

from treblehook.agent.inbox import When
from treblehook.agent.session import Session

Standing = Literal["starts", "waits", "joins"]

MOST_WAITING: Final = 100


class TooManyWait(Exception):
    """A session has so many messages waiting that it takes no more."""

    def __init__(self) -> None:
        super().__init__(f"{MOST_WAITING} messages wait for this session; it takes no more until one of them has had its turn")


class Prompts:
    """Sends messages to a session and has it take its turns, also for what hooks and subagents send, until it is closed.

    `broken` is told what a turn was broken off by; the next message starts again.
    """

    def __init__(self, session: Session, broken: Callable[[Exception], None]) -> None:
        self._session = session
        self._broken = broken
        self._sent: set[asyncio.Future[bool]] = set()
        self._attending = asyncio.ensure_future(self._attend())

    @property
    def waiting(self) -> int:
        """How many messages no turn has taken yet."""
        return len(self._sent)

    def say(self, text: str, when: When) -> tuple[Standing, int]:
        """Send a message; answers what becomes of it, and how many stand before it.

        Raises `TooManyWait`, and `ReachRefused` where the session is being closed.
        """
        if self.waiting >= MOST_WAITING:
            raise TooManyWait
        ahead, busy = self.waiting, self._session.busy
        taken = self._session.send(text, when)
        self._sent.add(taken)
        taken.add_done_callback(self._sent.discard)
        if self._attending.done():
            self._attending = asyncio.ensure_future(self._attend())
        if when == "now" and self._session.running:
            return "joins", 0
        return ("waits" if busy or ahead else "starts"), ahead

    async def _attend(self) -> None:
        try:
            await self._session.attend(self._session.end)
        except Exception as error:
            self._broken(error)
