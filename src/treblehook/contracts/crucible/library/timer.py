"""`cru.timer`: wait, bound a wait, go on in the background (crucible.md 10.2)."""

import asyncio
import time
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import FUNCTION, SECONDS
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.owned import void
from treblehook.runtimes.lua import LuaFailed, LuaTimedOut


def install(library: Library) -> None:
    began = time.monotonic()
    library.lua.provide_async("cru.timer.sleep", _sleep)
    library.lua.provide_async("cru.timer.timeout", lambda *given: _timeout(library, given))
    library.lua.provide("cru.timer.spawn", lambda *given: _spawn(library, given))
    library.lua.provide("cru.timer.clock", lambda *given: time.monotonic() - began)


async def _sleep(*given: object) -> None:
    await asyncio.sleep(Arguments("cru.timer.sleep", given).take("seconds", SECONDS))


async def _timeout(library: Library, given: tuple[object, ...]) -> tuple[Any, ...]:
    """`true` and what the function returned; `false` and "timeout", or the text of its error."""
    call = Arguments("cru.timer.timeout", given)
    seconds = call.take("seconds", SECONDS)
    function = call.take("function", FUNCTION)
    try:
        return (True, *await library.lua.run(function, about=library.caller, seconds=seconds))
    except LuaTimedOut:
        return (False, "timeout")
    except LuaFailed as failure:
        return (False, failure.message)


def _spawn(library: Library, given: tuple[object, ...]) -> None:
    """Its errors are logged. It ends with the plugin: a reload cancels it."""
    function = Arguments("cru.timer.spawn", given).take("function", FUNCTION)
    caller = library.caller

    def failed(failure: LuaFailed) -> None:
        library.log("error", f"cru.timer.spawn: {failure.message}", caller)

    task = library.lua.spawn(function, about=caller, failed=failed)
    forget = library.owned.add(caller.owner, lambda: void(task.cancel()))
    task.add_done_callback(lambda _: forget())
