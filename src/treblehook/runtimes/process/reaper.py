"""The end of processes that nobody waits for any more: SIGTERM, a short grace, SIGKILL, and no zombie left."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from treblehook.runtimes.process.child import Child
from treblehook.runtimes.process.exit import exited

CLOSE_SECONDS = 2.0


class Reaper:
    """Ends process groups in the background of one event loop."""

    def __init__(self) -> None:
        self._closing = asyncio.Event()
        self._ending: dict[asyncio.Task[None], Child] = {}

    def end(self, child: Child, grace_seconds: float, release: Callable[[], None]) -> None:
        """Ask the group of `child` to end now, make it end after the grace, and collect the child. Does not wait.

        `release` is called once the grace is over: until then a process that cleans up may need what it lets go of.
        """
        child.terminate()
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._finish(child, loop.time() + grace_seconds, release))
        self._ending[task] = child
        task.add_done_callback(self._ending.pop)

    async def close(self) -> list[int]:
        """Cut every grace short and collect the children. Returns the process ids that even SIGKILL had not ended 2 s later."""
        self._closing.set()
        if not self._ending:
            return []
        _, stuck = await asyncio.wait(self._ending, timeout=CLOSE_SECONDS)
        pids = [self._ending[task].pid for task in stuck]
        for task in stuck:
            task.cancel()
        return pids

    async def _finish(self, child: Child, patience_ends: float, release: Callable[[], None]) -> None:
        # The child stays uncollected during the grace, even if it ends at once: its id keeps the group addressable,
        # and others in the group may be ignoring SIGTERM.
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(patience_ends):
                    await self._closing.wait()
        finally:
            # Also when the loop shuts down and cancels this task.
            child.kill()
            release()
        await exited(child)
