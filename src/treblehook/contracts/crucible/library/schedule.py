"""`cru.schedule({every = seconds}, fn)`: call a function again and again (crucible.md 10.2).

A call begins every so many seconds, the first one after that time. One that takes longer makes the next ones wait: a schedule never runs
beside itself, and what was missed is not made up. An error is logged, and it goes on. It belongs to the plugin: a reload ends it.
"""

import asyncio
from itertools import count
from typing import Any

import msgspec

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import ANYTHING, FUNCTION, SOME_SECONDS
from treblehook.contracts.crucible.library.library import Library
from treblehook.runtimes.lua import LuaClosed, LuaFailed, LuaFunction


class Schedules:
    """The schedules of one machine, by number."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._numbers = count(1)
        self._running: dict[object, asyncio.Task[Any]] = {}

    def start(self, *given: object) -> int:
        call = Arguments("cru.schedule", given)
        every = call.options("every", required=True).read("every", SOME_SECONDS)
        if every is None:
            call.refuse("the option `every` is missing; allowed: a number of seconds above 0")
        function = call.take("function", FUNCTION)
        caller = msgspec.structs.replace(self._library.caller, event="cru.schedule", loading=None)
        number = next(self._numbers)
        task = self._library.owned.run(caller.owner, _repeat(self._library, every, function, caller))
        self._running[number] = task
        task.add_done_callback(lambda _: self._running.pop(number, None))
        return number

    def cancel(self, *given: object) -> bool:
        """Whether it was still going on."""
        task = self._running.pop(Arguments("cru.schedule.cancel", given).take("handle", ANYTHING), None)
        return task is not None and task.cancel()


def install(library: Library) -> None:
    schedules = Schedules(library)
    library.provide_lua("cru.schedule", "schedule", schedules.start, schedules.cancel)


async def _repeat(library: Library, every: float, function: LuaFunction, caller: Caller) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due = max(due + every, loop.time())
        await asyncio.sleep(due - loop.time())
        try:
            await library.lua.run(function, about=caller)
        except LuaClosed:
            return
        except LuaFailed as failure:
            library.log("error", f"cru.schedule: {failure.message}", caller)
