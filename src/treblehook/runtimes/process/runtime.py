"""The process runtime: run one executable with one input, inside limits, and give back what it left."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from treblehook.runtimes.process.child import spawn
from treblehook.runtimes.process.errors import NotStarted, Stopped, TimedOut, TooMuchInput
from treblehook.runtimes.process.exchange import Exchange, OnOutput
from treblehook.runtimes.process.reaper import Reaper
from treblehook.runtimes.process.values import Finished, Limits

DEFAULT_LIMITS = Limits()


class ProcessRuntime:
    """Runs executables for one event loop, at most `at_once` at a time; by default one more than there are cores.

    A run that waits for its place has not started, and its clock stands still. Programs that live long, or that end only
    after another run has, need a runtime of their own: they would keep hooks waiting for a place.

    `close` it before the loop ends, or use it as an `async with` block: what had to be ended is ended in the background.
    """

    def __init__(self, at_once: int | None = None) -> None:
        places = _cores() + 1 if at_once is None else at_once
        if places < 1:
            raise ValueError(f"at_once is {places}; it must be at least 1")
        self._places = asyncio.Semaphore(places)
        self._reaper = Reaper()
        self._running: set[Exchange] = set()
        self._closed = False

    async def run(
        self,
        argv: Sequence[str],
        stdin: bytes,
        *,
        limits: Limits = DEFAULT_LIMITS,
        timeout_seconds: float | None = None,
        executable: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        on_started: Callable[[int], None] | None = None,
        on_output: OnOutput | None = None,
    ) -> Finished:
        """Execute `argv` without a shell, write `stdin` to it, and wait until it has exited and both its outputs are closed.

        A first word without a slash is looked up on PATH, unless `executable` names the file to run; then `argv[0]` is only
        what the program sees as its name. `cwd` and `env` are this process's own unless given.
        `timeout_seconds` counts from the start of the process; None waits as long as the process, or a descendant that holds
        an output, lives; `limits.linger_seconds` bounds the wait for such a descendant, which then may stay. `on_started` is
        called with the process id; `on_output` with every chunk as it arrives, also with what is then cut.

        Raises NotStarted (TooMuchInput), TimedOut, TooMuchOutput, StatusLost, or Stopped when the runtime is closed
        meanwhile; an exception of a callback comes out as it is. In all these cases, and when the caller is cancelled, the
        answer comes at once: the process group gets SIGTERM now and SIGKILL after the grace, behind the caller's back. A
        descendant that left the group is not hunted; after the grace it finds its pipes broken. Of a run that finished,
        nothing is ended: a descendant that gave up both outputs may stay. Rules: vera.md 6.
        """
        async with self._places:
            exchange, started = self._start(argv, stdin, limits, executable, cwd, env, on_output)
            clock = asyncio.timeout_at(None if timeout_seconds is None else started + timeout_seconds)
            self._running.add(exchange)
            try:
                exchange.start()
                if on_started is not None:
                    on_started(exchange.child.pid)
                async with clock:
                    status = await exchange.ended
            except TimeoutError:
                if timeout_seconds is None or not clock.expired():
                    raise
                if exchange.child.status is None or not exchange.ended.cancelled():
                    raise TimedOut(argv[0], timeout_seconds) from None
                # It had exited in time; only an output was still waited for, which `linger_seconds` bounds.
                status = exchange.child.status
            finally:
                self._running.discard(exchange)
                exchange.close()
            return exchange.finished(status, asyncio.get_running_loop().time() - started)

    async def close(self) -> list[int]:
        """End every process now, with SIGKILL if need be. Runs under way raise Stopped, later ones NotStarted.

        Returns the ids of processes that even SIGKILL had not ended after two seconds.
        """
        self._closed = True
        for exchange in tuple(self._running):
            exchange.fail(Stopped(exchange.child.program))
        return await self._reaper.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    def _start(
        self,
        argv: Sequence[str],
        stdin: bytes,
        limits: Limits,
        executable: str | None,
        cwd: str | None,
        env: Mapping[str, str] | None,
        on_output: OnOutput | None,
    ) -> tuple[Exchange, float]:
        if not argv:
            raise NotStarted("", "argv is empty")
        if self._closed:
            raise NotStarted(argv[0], "the process runtime has been closed")
        if len(stdin) > limits.stdin_bytes:
            raise TooMuchInput(argv[0], limits.stdin_bytes, len(stdin))
        started = asyncio.get_running_loop().time()
        return Exchange(spawn(argv, executable, cwd, env), stdin, limits, on_output, self._reaper), started


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
