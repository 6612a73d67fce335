"""Work that a dispatch does not wait for: queued and detached calls, and calls that were left behind at their deadline."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from treblehook.engine.errors import BackgroundClosed, HookGivenUp, HookProblem, QueueFull
from treblehook.engine.handler import Handler, Queued


class Work(Protocol):
    """One call that nobody waits for."""

    @property
    def handler(self) -> Handler:
        """Whose call it is."""

    async def run(self) -> None:
        """Make the call and record how it ended."""

    def give_up(self, problem: HookProblem) -> None:
        """Record that the call is not made, or that nobody waits for its end; what comes of it later counts for nothing."""


class GaveUp(Struct, frozen=True):
    """What a drain left undone: `pending` calls of `handler`."""

    handler: Handler
    pending: int


class _Queue:
    """The calls of one queue in order, one at a time, from the first until none is left."""

    def __init__(self, delivery: Queued, first: Work, forget: Callable[[], None]) -> None:
        self.delivery = delivery
        self.idle = asyncio.get_running_loop().create_future()
        self._forget = forget
        self._waiting: deque[Work] = deque()
        self._blocked: deque[tuple[Work, asyncio.Future[None]]] = deque()
        self._start(first)

    def _start(self, work: Work) -> None:
        self._running = work
        self.task = asyncio.ensure_future(work.run())
        self.task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Future[None]") -> None:
        _tell_crash(task)
        if not self._waiting:
            self._forget()
            self.idle.set_result(None)
            return
        self._start(self._waiting.popleft())
        if self._blocked:
            work, room = self._blocked.popleft()
            self._waiting.append(work)
            if not room.done():
                room.set_result(None)

    async def put(self, work: Work) -> None:
        """Let `work` wait its turn; a full queue drops it or makes the caller wait."""
        if len(self._waiting) < self.delivery.depth:
            self._waiting.append(work)
        elif self.delivery.overflow == "drop":
            work.give_up(QueueFull(self.delivery.depth))
        else:
            await self._room(work)

    async def _room(self, work: Work) -> None:
        entry = (work, asyncio.get_running_loop().create_future())
        self._blocked.append(entry)
        try:
            await entry[1]
        except asyncio.CancelledError:
            if entry in self._blocked:
                self._blocked.remove(entry)
                work.give_up(HookGivenUp("the wait for room in its queue was cancelled"))
            raise

    def turn_away(self) -> None:
        """Let nobody wait for room any more."""
        while self._blocked:
            work, room = self._blocked.popleft()
            work.give_up(BackgroundClosed())
            if not room.done():
                room.set_result(None)

    def give_up(self) -> Counter[Handler]:
        """Give up the call that is under way and those that wait; says how many of each handler."""
        left = list(self._waiting)
        self._waiting.clear()
        self._running.give_up(HookGivenUp("what it belongs to has closed"))
        for work in left:
            work.give_up(BackgroundClosed())
        return Counter(work.handler for work in (self._running, *left))


class Background:
    """Owns one session's (or one daemon's) work in the background; `drain` ends it within a bound."""

    def __init__(self) -> None:
        self._queues: dict[Handler | str, _Queue] = {}
        self._detached: dict[asyncio.Future[None], Work] = {}
        self._left_behind: set[asyncio.Future[Any]] = set()
        self._closed = False

    async def enqueue(self, work: Work) -> None:
        """Put `work` into the queue of its handler; a full queue or a drained background gives it up."""
        delivery = work.handler.delivery
        assert isinstance(delivery, Queued), "only a queued handler has a queue"
        key = delivery.queue or work.handler
        if self._closed:
            work.give_up(BackgroundClosed())
        elif (queue := self._queues.get(key)) is not None:
            await queue.put(work)
        else:
            self._queues[key] = _Queue(delivery, work, lambda: self._forget_queue(key))

    def _forget_queue(self, key: Handler | str) -> None:
        self._queues.pop(key, None)

    def detach(self, work: Work) -> None:
        """Start `work` and do not wait for it; a drained background gives it up."""
        if self._closed:
            work.give_up(BackgroundClosed())
            return
        task = asyncio.ensure_future(work.run())
        self._detached[task] = work
        task.add_done_callback(self._detached_ended)

    def _detached_ended(self, task: "asyncio.Future[None]") -> None:
        self._detached.pop(task, None)
        _tell_crash(task)

    def abandon(self, task: "asyncio.Future[Any]") -> None:
        """Cancel `task` and let it end whenever it likes; its result is thrown away."""
        task.cancel()
        self._left_behind.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Future[Any]") -> None:
        self._left_behind.discard(task)
        if not task.cancelled():
            task.exception()

    async def drain(self, *, queued_seconds: float = 15.0, detached_seconds: float = 2.0) -> list[GaveUp]:
        """Finish what is under way within the bounds, give the rest up and say what that was. Nothing is taken after."""
        self._closed = True
        for queue in self._queues.values():
            queue.turn_away()
        try:
            if self._queues:
                await asyncio.wait([queue.idle for queue in self._queues.values()], timeout=queued_seconds)
            if self._detached:
                await asyncio.wait(list(self._detached), timeout=detached_seconds)
        finally:
            left = self._give_up()
        return left

    def _give_up(self) -> list[GaveUp]:
        left: Counter[Handler] = Counter()
        for queue in list(self._queues.values()):
            self.abandon(queue.task)
            left += queue.give_up()
        for task, work in list(self._detached.items()):
            self.abandon(task)
            work.give_up(HookGivenUp("what it belongs to has closed"))
            left[work.handler] += 1
        self._queues.clear()
        self._detached.clear()
        return [GaveUp(handler, pending) for handler, pending in left.items()]


def _tell_crash(task: "asyncio.Future[None]") -> None:
    """A call records its own failures; whatever else ends its task is the loop's to report."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": "a background call broke down", "exception": error, "task": task})
