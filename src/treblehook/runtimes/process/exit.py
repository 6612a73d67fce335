"""Learning that a child has exited, without a thread, a signal handler or a watcher that the host would have to install."""

import asyncio
import os
import sys
from collections.abc import Callable

from treblehook.runtimes.process.child import Child

FIRST_PAUSE = 0.001
LONGEST_PAUSE = 0.05


class ExitWatch:
    """Calls `on_exit` once, after `child` has exited and its status has been collected; never after `close`.

    A process descriptor (Linux 5.3) wakes the loop at the exit. Where there is none, the child is asked in growing pauses,
    1 to 50 ms long.
    """

    def __init__(self, child: Child, on_exit: Callable[[], None]) -> None:
        self._child = child
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._pause = FIRST_PAUSE
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor = _open_process(child.pid)
        if self._descriptor is None:
            self._poll()
        else:
            self._loop.add_reader(self._descriptor, self._woken)

    def close(self) -> None:
        """Stop watching; closing twice is fine."""
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _woken(self) -> None:
        # A debugger that holds the dead process keeps the descriptor readable: leave it, or the loop would spin.
        self.close()
        self._poll()

    def _poll(self) -> None:
        if self._child.ended():
            self._on_exit()
            return
        self._timer = self._loop.call_later(self._pause, self._poll)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)


async def exited(child: Child) -> None:
    """Wait until `child` has exited and its status has been collected."""
    if child.ended():
        return
    gone = asyncio.Event()
    watch = ExitWatch(child, gone.set)
    try:
        await gone.wait()
    finally:
        watch.close()


def _open_process(pid: int) -> int | None:
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        # An old kernel, a sandbox that forbids the call, no descriptor left, or no such process: asking in pauses meets all four.
        return None
