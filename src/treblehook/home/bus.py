"""The queue of the events that belong to no session: told at any time, dispatched one after another (crucible.md 3.15)."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Final

from treblehook.lifecycle.daemon_events import DaemonEvent

Done = Callable[[], None]

_SLICE_SECONDS: Final = 0.005
"""After so long the loop gets a turn, even where handlers never wait."""


LONGEST_CHAIN: Final = 100
"""So many events may follow one from the other, each told by a handler of the one before."""


class ChainTooLong(Exception):
    """An event was told by a handler, of an event that was told by a handler, and so on: most likely without an end."""

    def __init__(self) -> None:
        super().__init__(f"it is the last of {LONGEST_CHAIN} events that handlers brought about one after another; no handler is asked")


class EventBus:
    """Dispatches events in the order in which they were told, each after the one before; whoever tells one never waits.

    `dispatch` asks the handlers of one event. What it raises goes to `failed`, and the next event follows. The queue has no bound,
    since a lost event is worse than a late one; `depth` says how long it is. Everything is called on the event loop.
    """

    def __init__(self, dispatch: Callable[[DaemonEvent], Awaitable[object]], failed: Callable[[DaemonEvent, Exception], None]) -> None:
        self.fired: Counter[str] = Counter()
        """how many events of each kind have been dispatched"""
        self._dispatch = dispatch
        self._failed = failed
        self._waiting: deque[tuple[DaemonEvent, Done | None, int]] = deque()
        # Tasks that a handler begins have it from the handler.
        self._chain: ContextVar[int] = ContextVar("chain", default=0)
        self._consumer: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def depth(self) -> int:
        """How many events have not been dispatched yet, the one under way among them."""
        return len(self._waiting)

    def tell(self, event: DaemonEvent, done: Done | None = None) -> None:
        """Let `event` wait its turn; `done` is called once its handlers have run. A bus that was drained takes nothing."""
        if self._closed:
            return
        self._waiting.append((event, done, self._chain.get() + 1))
        if self._consumer is None:
            self._consumer = asyncio.ensure_future(self._consume())

    async def settle(self, seconds: float) -> None:
        """Wait until nothing waits any more, `seconds` at most."""
        if self._consumer is not None:
            await asyncio.wait({self._consumer}, timeout=seconds)

    async def drain(self, seconds: float) -> int:
        """Dispatch what waits, and what handlers tell meanwhile, for `seconds` at most; answers how many events are left undone."""
        if self._consumer is not None:
            _, late = await asyncio.wait({self._consumer}, timeout=seconds)
            for consumer in late:
                consumer.cancel()
        self._closed = True
        return self.depth

    async def _consume(self) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        while self._waiting:
            event, done, chain = self._waiting[0]
            self._chain.set(chain)
            try:
                if chain > LONGEST_CHAIN:
                    raise ChainTooLong
                await self._dispatch(event)
            except Exception as error:
                self._failed(event, error)
            self._waiting.popleft()
            self.fired[type(event).__name__] += 1
            if done is not None:
                done()
            if clock() - began > _SLICE_SECONDS:
                await asyncio.sleep(0)
                began = clock()
        self._consumer = None
