"""An event loop's clock that a test turns."""

import asyncio

import pytest


class Clock:
    """Turns the running loop's clock forward, so that a deadline comes when the test wants it and not before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        real = loop.time
        monkeypatch.setattr(loop, "time", lambda: real() + self._ahead)

    async def advance(self, seconds: float) -> None:
        self._ahead += seconds
        # One round finds the timers that are due, one runs them, one the tasks that they woke.
        for _ in range(3):
            await asyncio.sleep(0)
