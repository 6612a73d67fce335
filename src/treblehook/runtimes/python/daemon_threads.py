"""Threads for what a module hands over with `asyncio.to_thread`; none of them holds up the end of the process."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """A thread for each piece of work. The pool that it stands in for is waited for when the interpreter ends."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Run `fn` in a thread of its own."""
        future: Future[T] = Future()
        threading.Thread(target=_run, args=(future, fn, args, kwargs), name="treblehook-work", daemon=True).start()
        return future


def _run(future: "Future[Any]", function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function(*args, **kwargs))
    except BaseException as error:
        future.set_exception(error)
