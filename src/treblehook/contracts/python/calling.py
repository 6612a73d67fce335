"""Calling a plain function that may block, without stalling the event loop."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

A = TypeVar("A")


async def called(function: Callable[[A], Any], argument: A) -> Any:
    """What `function(argument)` comes to in a daemon thread of its own, with the caller's context variables.

    So it may block, and may run an event loop of its own. Cancelling this ends the wait for it, never the thread, and one that
    never ends holds up neither the next call nor the end of the process.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if not ended.done():
            ended.set_result((result, error))

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function, argument)
        except BaseException as raised:
            error = raised
        # A closed loop means that nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="treblehook-function", daemon=True).start()
    result, error = await ended
    if error is not None:
        raise error
    return await result if inspect.isawaitable(result) else result
