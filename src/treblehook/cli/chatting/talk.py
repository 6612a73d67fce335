"""A conversation of many turns: what is sent when, what waits, and when it is over."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from treblehook.agent.inbox import When
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.cli.chatting.commands import COMMANDS, compacted
from treblehook.cli.output.output import Output

Work = Callable[[], Awaitable[None]]


class Talk:
    """Takes messages, commands and interruptions at any time, and one turn after another.

    A message sent `now` joins the running turn; one that comes too late for it, or while none runs, starts a turn before all
    that wait. One for `idle` waits for its turn. What background subagents deliver starts a turn when nothing else waits.
    `work_over` is called after each turn and each compaction.
    """

    def __init__(self, session: Session, output: Output, work_over: Callable[[], None]) -> None:
        self.turns = 0
        self.session = session
        self._output = output
        self._work_over = work_over
        self._now: list[str] = []
        self._waiting: deque[Work] = deque()
        self._interrupting: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._working = False
        self._input_over = False
        self._left = False

    def say(self, text: str, when: When) -> None:
        """Send a message."""
        if when == "idle":
            self._waiting.append(partial(self._turn, text))
        elif not self.session.join(text):
            self._now.append(text)
        self._woken.set()

    def command(self, line: str, when: When = "now") -> None:
        """Do what a line such as `/usage` says; `/compact`, and with `idle` any other, waits for its turn."""
        name = line.strip()
        if name == "/compact":
            self._waiting.append(self._compact)
            self._woken.set()
        elif when == "idle":
            self._waiting.append(partial(self._command, name))
            self._woken.set()
        elif name == "/quit":
            self.leave()
        elif name in COMMANDS:
            self._output.told(self.session.id, name, COMMANDS[name](self.session))
        else:
            known = ", ".join(("/compact", *COMMANDS, "/quit"))
            self._output.misunderstood(self.session.id, f"there is no command {name!r}; there are: {known}")

    def interrupt(self) -> bool:
        """Stop the running turn, or compaction, at once; false where there is none. What waits goes on waiting."""
        if not self.session.busy:
            return self._interrupt_soon()
        self._interrupting = asyncio.ensure_future(self.session.interrupt())
        return True

    def _interrupt_soon(self) -> bool:
        """What was sent just before has not begun yet, and is what is meant."""
        sent = bool(self._working or self._now or self._waiting)
        if sent:
            asyncio.get_running_loop().call_soon(self.interrupt)
        return sent

    def input_is_over(self) -> None:
        """Nothing more will be sent: what runs and what waits is done, then the conversation ends."""
        self._input_over = True
        self._woken.set()

    def leave(self) -> None:
        """End the conversation now."""
        self._left = True
        self._now.clear()
        self._waiting.clear()
        self.interrupt()
        self._woken.set()

    async def run(self) -> None:
        """Take turns until the conversation is over."""
        while not self._left:
            self._woken.clear()
            work = self._next()
            if work is not None:
                self._working = True
                await work()
                self._working = False
                self._work_over()
            elif self._input_over and not self.session.children.busy():
                return
            else:
                await self._news()

    def _next(self) -> Work | None:
        urgent = [*self.session.left_over(), *self._now]
        self._now.clear()
        if urgent:
            return partial(self._turn, *urgent)
        if self._waiting:
            return self._waiting.popleft()
        sent = self.session.state.inbox.next_turn()
        if sent:
            return partial(self._turn, *sent)
        return self._turn if self.session.state.delivered else None

    async def _news(self) -> None:
        """Wait for input, or for what hooks and background subagents send."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._woken.wait()), asyncio.ensure_future(self.session.news())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _turn(self, *texts: str) -> None:
        end: TurnEnd = await self.session.prompt(*texts)
        self.turns += 1
        self.session.end(end)
        self._output.turn_ended(end)

    async def _command(self, name: str) -> None:
        self.command(name)

    async def _compact(self) -> None:
        self._output.told(self.session.id, "/compact", await compacted(self.session))
