"""Ctrl-C and its kin: the first ends politely, the second kills."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Final, Self

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """While it is entered, the first SIGINT, SIGTERM or SIGHUP calls `heard` on the event loop.

    The next one kills this process at once, after `restore` has given the terminal back; `rearm` makes it a first one again.
    Handlers of the interpreter are used and not the loop's own: they run even while the loop is held up.
    """

    def __init__(self, heard: Callable[[signal.Signals], None], restore: Callable[[], None]) -> None:
        self._heard = heard
        self._restore = restore
        self._armed = True
        self._loop = asyncio.get_running_loop()
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def rearm(self) -> None:
        """What the first signal asked for is done."""
        self._armed = True

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            self._armed = False
            self._loop.call_soon_threadsafe(self._heard, signal.Signals(number))
            return
        self._restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def __enter__(self) -> Self:
        for number in _HEARD:
            # Who starts a program with nohup wants it to outlive the terminal.
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
