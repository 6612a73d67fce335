"""An event loop whose time passes only while everybody waits for it: an hour of timers takes no time."""

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_LOOK_SECONDS: Final = 0.05
"""How long work in threads is waited for before it is looked at the real clock again."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` starts at 0 and jumps to the next timer when nothing else is left to do; work in threads is waited for in real time.

    `overdue` is called once when `real_seconds` have really passed since `watch`.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._in_threads = 0
        self._watched: tuple[float, Callable[[], object]] | None = None
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    def watch(self, real_seconds: float, overdue: Callable[[], object]) -> None:
        """Have `overdue` called unless `unwatch` comes within that time."""
        self._watched = (time.monotonic() + real_seconds, overdue)

    def unwatch(self) -> None:
        """What was watched has ended."""
        self._watched = None

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> "asyncio.Future[T]":
        """As ever; time stands still until it is done."""
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: object) -> None:
        self._in_threads -= 1

    def pause(self, seconds: float | None) -> float | None:
        """How long to look for input, where the loop has nothing to do for `seconds` (None: until something comes in)."""
        if self._watched is not None and time.monotonic() > self._watched[0]:
            overdue = self._watched[1]
            self._watched = None
            self.call_soon(overdue)
            return 0
        if seconds is None or self._in_threads:
            return _LOOK_SECONDS if seconds is None or seconds > 0 else 0
        self._now += seconds
        return 0


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Where nothing else is to be done, let time pass instead of waiting."""
        return super().select(self._loop.pause(timeout))
