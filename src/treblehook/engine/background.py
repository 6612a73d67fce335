"""Work that a dispatch does not wait for: queued and detached calls, and calls that were left behind at their deadline."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from msgspec import Struct

from treblehook.engine.handler import Handler, Queued

Job = Callable[[], Awaitable[None]]


class GaveUp(Struct, frozen=True):
    """What a drain left undone: `pending` calls of `handler`."""

    handler: Handler
    pending: int


class _Queue:
    """One handler's own queue and the worker that empties it in order."""

    def __init__(self, delivery: Queued) -> None:
        self.delivery = delivery
        self.jobs: asyncio.Queue[Job | None] = asyncio.Queue()
        self.room = asyncio.Semaphore(delivery.depth)
        self.busy = False
        self.worker = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        while (job := await self.jobs.get()) is not None:
            self.room.release()
            self.busy = True
            await job()
            self.busy = False

    @property
    def pending(self) -> int:
        return self.jobs.qsize() + self.busy

    async def put(self, job: Job) -> bool:
        """Queue `job`; false where the queue is full and drops."""
        if self.delivery.overflow == "drop" and self.room.locked():
            return False
        await self.room.acquire()
        self.jobs.put_nowait(job)
        return True


class Background:
    """Owns one session's (or one daemon's) work in the background; `drain` ends it within a bound."""

    def __init__(self) -> None:
        self._queues: dict[Handler, _Queue] = {}
        self._detached: dict[asyncio.Future[None], Handler] = {}
        self._left_behind: set[asyncio.Future[Any]] = set()
        self._closed = False

    async def enqueue(self, handler: Handler, job: Job) -> bool:
        """Put `job` into the queue of `handler`; false where it was dropped (a full queue, or after the drain)."""
        if self._closed or not isinstance(handler.delivery, Queued):
            return False
        queue = self._queues.get(handler)
        if queue is None:
            queue = self._queues[handler] = _Queue(handler.delivery)
        return await queue.put(job)

    def detach(self, handler: Handler, job: Coroutine[Any, Any, None]) -> None:
        """Start `job` and do not wait for it."""
        task = asyncio.ensure_future(job)
        self._detached[task] = handler
        task.add_done_callback(lambda done: self._detached.pop(done, None))

    def abandon(self, task: "asyncio.Future[Any]") -> None:
        """Cancel `task` and let it end whenever it likes; its result is thrown away."""
        task.cancel()
        if not task.done():
            self._left_behind.add(task)
            task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Future[Any]") -> None:
        self._left_behind.discard(task)
        if not task.cancelled():
            task.exception()

    async def drain(self, *, queued_seconds: float = 15.0, detached_seconds: float = 2.0) -> list[GaveUp]:
        """Finish what is under way within the bounds, give the rest up and say what that was. Nothing is taken after."""
        self._closed = True
        gave_up = await self._drain_queues(queued_seconds)
        if self._detached:
            await asyncio.wait(set(self._detached), timeout=detached_seconds)
        for task, handler in list(self._detached.items()):
            gave_up.append(GaveUp(handler, 1))
            self.abandon(task)
        return gave_up

    async def _drain_queues(self, seconds: float) -> list[GaveUp]:
        for queue in self._queues.values():
            queue.jobs.put_nowait(None)
        workers = {queue.worker for queue in self._queues.values()}
        if workers:
            await asyncio.wait(workers, timeout=seconds)
        late = [(handler, queue) for handler, queue in self._queues.items() if not queue.worker.done()]
        for _, queue in late:
            self.abandon(queue.worker)
        self._queues.clear()
        return [GaveUp(handler, max(1, queue.pending - 1)) for handler, queue in late]
