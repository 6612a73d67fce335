"""Calling a program's function from the event loop, whether it is a coroutine function or a plain one that may block."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

A = TypeVar("A")
R = TypeVar("R")


async def called(function: Callable[[A], R | Awaitable[R]], argument: A) -> R:
    """What `function(argument)` comes to. A plain function runs in a thread of its own, with the caller's context variables.

    So it may block, and may run an event loop of its own; cancelling this ends the wait for it, never the thread.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        result: Any = function(argument)
    else:
        result = await _in_thread(function, argument)
    return await result if inspect.isawaitable(result) else result  # type: ignore[no-any-return]


async def _in_thread(function: Callable[[A], Any], argument: A) -> Any:
    """A daemon thread, not the loop's pool: one that never ends must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: Any, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            # A future refuses this one type.
            answer.set_exception(RuntimeError(f"it raised {error!r}") if isinstance(error, StopIteration) else error)

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function, argument)
        except BaseException as raised:
            error = raised
        # The loop may have closed meanwhile; then nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, result, error)

    threading.Thread(target=work, name="treblehook-function", daemon=True).start()
    return await answer
