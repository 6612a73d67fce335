"""Asking that is not cut short: a hook that is interrupted can never be asked again, so whoever loses patience only stops waiting."""

import asyncio
from typing import Any

from treblehook.contracts.murmur.asking import Ask


class WholeCalls:
    """The calls that are under way, whether or not somebody still waits for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()

    def asking(self, ask: Ask) -> Ask:
        """`ask`, of which a cancellation ends the wait and not the call."""

        async def waits(event: Any) -> Any:
            task = asyncio.ensure_future(ask(event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return await asyncio.shield(task)

        return waits

    async def over(self) -> None:
        """Wait for the calls of hooks that have been closed."""
        while self._tasks:
            await asyncio.wait(self._tasks)
