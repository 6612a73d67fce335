"""What a session is waiting for, told once it takes long."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Final

PATIENCE: Final = 0.3
"""Seconds after which a wait is worth a word."""

Show = Callable[[str | None, float], None]
"""Gets what is waited for and since how many seconds; None where the wait that was shown is over."""


class Waiting:
    """Waits that have begun and not ended; the one that began last is shown, and again `every` seconds where that is given.

    With `once` a wait that was shown is not shown anew when a shorter one inside it is over.
    """

    def __init__(self, show: Show, every: float | None = None, *, once: bool = False) -> None:
        self._show = show
        self._every = every
        self._once = once
        self._noted: set[Hashable] = set()
        self._open: dict[Hashable, tuple[str, float]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._shown = False

    def begin(self, key: Hashable, what: str) -> None:
        """Something that may take long has begun."""
        self._open.pop(key, None)
        self._noted.discard(key)
        self._open[key] = (what, asyncio.get_running_loop().time())
        self._watch()

    def end(self, key: Hashable) -> None:
        """It is over, if it ever began."""
        if self._open.pop(key, None) is not None:
            self._watch()

    def clear(self) -> None:
        """Nothing is waited for any more."""
        self._open.clear()
        self._watch()

    def _watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._shown:
            self._shown = False
            self._show(None, 0.0)
        if self._open:
            key, (_, began) = next(reversed(self._open.items()))
            if self._once and key in self._noted:
                return
            self._timer = asyncio.get_running_loop().call_at(began + PATIENCE, self._tell)

    def _tell(self) -> None:
        key, (what, began) = next(reversed(self._open.items()))
        self._noted.add(key)
        loop = asyncio.get_running_loop()
        self._shown = True
        self._show(what, loop.time() - began)
        self._timer = None if self._every is None else loop.call_later(self._every, self._tell)
