"""Runs that wait: what Lua code asked for is awaited here, and the run goes on with the answer."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from treblehook.runtimes.lua.errors import LuaClosed, LuaTimedOut
from treblehook.runtimes.lua.machine import Machine
from treblehook.runtimes.lua.provided import ENDED, answer, refusal


def waits(out: Any) -> bool:
    """Whether a run has asked for a wait, rather than ended."""
    return out.__class__ is int


class Waiting:
    """The runs of one VM that wait."""

    def __init__(self, machine: Machine, clock: Callable[[], float]) -> None:
        self._machine = machine
        self._clock = clock
        self._now: dict[Any, tuple[asyncio.Timeout, Any]] = {}
        self._cut: set[Any] = set()

    async def through(self, worker: Any, about: Any, seconds: float, cpu_seconds: float | None = None) -> Any:
        """Goes on with a run that waits until it ends; what it came to. All its waits together may take `seconds`.

        Whatever ends a wait from outside (cancelling, the time limit, closing the VM) ends the run inside of Lua too: to-be-closed
        variables are closed, and nothing there can catch it.
        """
        machine = self._machine
        out: Any = 1
        while waits(out):
            begun, machine.begun = machine.begun, None
            before = self._clock()
            ending: BaseException | None = None
            try:
                said = answer(machine, await self._awaited(worker, begun, about, seconds))
            except BaseException as error:
                said = refusal(machine, error)
                if said[0] == ENDED or isinstance(error, LuaTimedOut | LuaClosed):
                    ending, machine.ending, said = error, None, (ENDED,)
            seconds -= self._clock() - before
            if not machine.closed:
                out = machine.resume(worker, said, about, cpu_seconds)
                if ending is not None:
                    machine.idle.append(worker)
            if ending is not None:
                raise ending
        return out

    async def _awaited(self, worker: Any, begun: tuple[Callable[..., Awaitable[Any]], list[Any]], about: Any, seconds: float) -> Any:
        function, arguments = begun
        try:
            async with asyncio.timeout(max(seconds, 0)) as limit:
                self._now[worker] = limit, about
                return await _carried(self._machine, about, function(*arguments))
        except TimeoutError:
            if self._machine.closed:
                raise LuaClosed(f"{self._machine.name}: the VM was closed while the run waited") from None
            if worker in self._cut:
                raise LuaClosed(f"{self._machine.name}: the code was taken out while it waited") from None
            if limit.expired():
                raise LuaTimedOut(f"{self._machine.name}: the run waited longer than it may") from None
            raise
        finally:
            self._now.pop(worker, None)
            self._cut.discard(worker)

    def cut(self, whose: Callable[[Any], bool]) -> None:
        """Ends the runs that wait now and whose `about` is of the kind, as a time limit would."""
        for worker, (limit, about) in list(self._now.items()):
            if whose(about) and not limit.expired():
                self._cut.add(worker)
                limit.reschedule(asyncio.get_running_loop().time())

    def end(self) -> None:
        """Ends every run that waits, first inside of Lua, then here."""
        for worker, (limit, about) in list(self._now.items()):
            self._machine.resume(worker, (ENDED,), about)
            if not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time())


@types.coroutine
def _carried(machine: Machine, about: Any, awaitable: Awaitable[Any]) -> Generator[Any, Any, Any]:
    """Awaits; `about` is the run's at every step."""
    steps = awaitable.__await__()
    step: Callable[..., Any] = steps.send if hasattr(steps, "send") else lambda _: next(steps)
    given: tuple[Any, ...] = (None,)
    while True:
        before, machine.about = machine.about, about
        try:
            asked = step(*given)
        except StopIteration as stop:
            return stop.value
        finally:
            machine.about = before
        try:
            given = ((yield asked),)
            step = steps.send if hasattr(steps, "send") else lambda _: next(steps)
        except BaseException as error:
            if not hasattr(steps, "throw"):
                raise
            step, given = steps.throw, (error,)
