"""An event loop whose time passes only where everybody waits, and that keeps what went wrong in the background."""

import asyncio
import functools
import gc
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Stuck(Exception):
    """Every task waits, and nothing is left that could wake one."""


class _Selector(selectors.SelectSelector):
    """Waits for nothing: the time that it was to wait has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck
        self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 0 s and jumps to the next timer when nothing else is ready. For tests without threads, files and sockets."""

    def __init__(self) -> None:
        self.clock = _Selector()
        super().__init__(self.clock)
        self.problems: list[dict[str, Any]] = []
        self.set_exception_handler(lambda loop, context: self.problems.append(context))

    def time(self) -> float:
        return self.clock.now


def now() -> float:
    """The running loop's time in seconds."""
    return asyncio.get_running_loop().time()


def block(seconds: float) -> None:
    """What a handler does that computes for `seconds` without letting anybody else run."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.clock.now += seconds


def run(main: Coroutine[Any, Any, T], *, collect: bool = True) -> T:
    """Run `main` in virtual time. Fails on an exception that nobody retrieved and on a task that is left over.

    `collect` frees everything first, so that nothing unretrieved is overlooked; it costs some milliseconds.
    """
    loop = VirtualLoop()
    try:
        result = loop.run_until_complete(main)
        left = asyncio.all_tasks(loop)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        if collect:
            gc.collect()
        loop.close()
    assert not left, f"left over: {left}"
    assert not loop.problems, loop.problems
    return result


def virtual(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that runs in virtual time."""

    @functools.wraps(test)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        run(test(*args, **kwargs))

    return wrapper
