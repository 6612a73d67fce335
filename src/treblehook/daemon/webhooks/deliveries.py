"""From the queue on disk to the hooks: in order, and with a bound on what is in memory."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from treblehook.daemon.webhooks.queue import Delivery, DeliveryQueue, NotStored
from treblehook.home.bus import EventBus
from treblehook.lifecycle import WebhookReceived

MEMORY_BYTES: Final = 16 * 1024 * 1024
_OVERHEAD_BYTES: Final = 2048
"""What a delivery takes beside its body, about."""


class Deliveries:
    """Hands deliveries to the bus and takes them out of the queue once their handlers have run (at least once, crucible.md 8.6).

    What does not fit into `memory_bytes` stays on disk until there is room. `problem` is told what goes wrong.
    """

    def __init__(self, bus: EventBus, problem: Callable[[str], None], memory_bytes: int = MEMORY_BYTES) -> None:
        self._bus = bus
        self._problem = problem
        self._memory = memory_bytes
        self._held = 0
        self._told = 0
        self._newest = 0
        self._waiting = 0
        self._queue: DeliveryQueue | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many deliveries have been stored since the start, or were found then, and are not handled yet."""
        return self._waiting

    def start(self, queue: DeliveryQueue) -> None:
        """Begin with what an earlier run has left."""
        self._queue = queue
        self._waiting, self._newest = queue.left
        self._read_on()

    def stored(self, delivery: Delivery) -> None:
        """A delivery is on disk; it has to be told in its order."""
        behind = self._told < self._newest
        self._newest = delivery.id
        self._waiting += 1
        if behind or self._held + _size(delivery) > self._memory:
            self._read_on()
        else:
            self._tell(delivery)

    def _tell(self, delivery: Delivery) -> None:
        size = _size(delivery)
        self._held += size
        self._told = delivery.id
        event = WebhookReceived(name=delivery.name, headers=delivery.headers, body=delivery.body.decode())
        self._bus.tell(event, partial(self._handled, delivery.id, size))

    def _handled(self, delivery: int, size: int) -> None:
        assert self._queue is not None, "nothing is told before the start"
        self._held -= size
        self._waiting -= 1
        self._queue.remove(delivery)
        self._read_on()

    def _read_on(self) -> None:
        """Read what is only on disk, once at least half of the room is free."""
        if self._told < self._newest and self._held <= self._memory // 2 and self._reading is None:
            self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self._queue is not None, "nothing is read before the start"
        try:
            while self._told < self._newest and self._held <= self._memory // 2:
                found = await self._queue.read(self._told, self._memory - self._held)
                for delivery in found:
                    self._tell(delivery)
                if not found:
                    # Those between were given ids and not kept.
                    self._told = self._newest
        except NotStored as error:
            self._problem(f"deliveries that wait on disk cannot be read: {error}")
        finally:
            self._reading = None


def _size(delivery: Delivery) -> int:
    return len(delivery.body) + _OVERHEAD_BYTES
