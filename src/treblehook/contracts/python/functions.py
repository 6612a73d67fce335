"""A function of any kind as something that can be asked: async or sync, plain, partial, or an object that can be called."""

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from treblehook.engine import Origin
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Event

Function = Callable[[Any], Any]


def asking(function: Function, *, in_thread: bool) -> Ask:
    """How `function` is asked. A sync one that could not be left behind at its deadline is called `in_thread`."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return function
    return _called_in_thread(function) if in_thread else _called(function)


def _called(function: Function) -> Ask:
    async def ask(event: Any) -> Any:
        answer = function(event)
        return await answer if inspect.isawaitable(answer) else answer

    return ask


def _called_in_thread(function: Function) -> Ask:
    """A daemon thread for each call: one that hangs holds up neither the next call nor the end of the process."""

    async def ask(event: Any) -> Any:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            result: tuple[Any, BaseException | None]
            try:
                result = (context.run(function, event), None)
            except BaseException as error:
                result = (None, error)
            # A closed loop means that nobody waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, ended, result)

        threading.Thread(target=work, name=f"hook {name_of(function)}", daemon=True).start()
        answer, error = await ended
        if error is not None:
            raise error
        return await answer if inspect.isawaitable(answer) else answer

    return ask


def _settle(ended: "asyncio.Future[tuple[Any, BaseException | None]]", result: tuple[Any, BaseException | None]) -> None:
    if not ended.done():
        ended.set_result(result)


def written(function: Function) -> Any:
    """The function that somebody wrote, beneath wrappers, partials and objects that can be called."""
    found = _unwrapped(function)
    return found if hasattr(found, "__code__") else type(found).__call__


def name_of(function: Function) -> str:
    """The name that a hook has when it is given none."""
    found = _unwrapped(function)
    return str(getattr(found, "__name__", type(found).__name__))


def _unwrapped(function: Function) -> Any:
    found: Any = inspect.unwrap(function)
    while isinstance(found, functools.partial):
        found = inspect.unwrap(found.func)
    return found


def origin_of(function: Function, event: type[Event]) -> Origin:
    """Where the hook stands; a function that was not written in Python has no place."""
    code = getattr(written(function), "__code__", None)
    if code is None:
        return Origin("python", event.__name__)
    return Origin("python", event.__name__, code.co_filename, code.co_firstlineno)
