"""The thread of one instance: what it is given to do it does in order, and tells the event loop."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from treblehook.runtimes.wasm.errors import CannotStart

T = TypeVar("T")
_AT_ONCE: Final = 1.0
"""Seconds to wait for a thread whose last work is done."""


class Worker:
    """The thread begins with the first work and never holds up the end of the process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Have `work` done after all that was given before. Raises `CannotStart`."""
        if self._thread is None:
            thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise CannotStart(str(error)) from None
            self._thread = thread
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((loop, future, work))
        return future

    @property
    def begun(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None

    def end(self) -> None:
        """Let the thread end after its work."""
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for a thread that has done its last work."""
        if self._thread is not None:
            self._thread.join(_AT_ONCE)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, work = job
            del job
            value, failed = None, None
            try:
                value = work()
            except BaseException as error:
                failed = error
            try:
                loop.call_soon_threadsafe(_tell, future, value, failed)
            except RuntimeError:
                # The loop is closed, so nobody is left to be told.
                return
            del future, work, value, failed


def _tell(future: "asyncio.Future[Any]", value: object, failed: BaseException | None) -> None:
    if future.done():
        return
    if failed is None:
        future.set_result(value)
    else:
        future.set_exception(failed)
