"""One module: a thread with an event loop, its functions, and what it means when that thread blocks or ends."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from treblehook.runtimes.modules import CallFailed, ModuleEnded, NotRunning
from treblehook.runtimes.python.daemon_threads import DaemonThreads
from treblehook.runtimes.python.failure import told
from treblehook.runtimes.python.log import PrintLog
from treblehook.runtimes.python.private_import import PrivateImport

CLOSE_SECONDS: Final = 1.0
"""How long the end of a thread is waited for."""

BLOCKED_SECONDS: Final = 5.0
"""How long an event loop may stand still once somebody has stopped waiting for an answer."""

Functions = Mapping[str, Callable[[bytes], Awaitable[bytes]]]
Make = Callable[["ModuleHost", Callable[[], ModuleType]], Functions]
OnRequest = Callable[["PythonModule", str, bytes], Awaitable[bytes]]
OnEnded = Callable[["PythonModule", str], None]


class ModuleHost:
    """The way from a module's code, in whatever thread and event loop it runs, to whoever has it run."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_request: Callable[[str, bytes], Awaitable[bytes]]) -> None:
        self._loop = loop
        self._on_request = on_request

    async def call(self, name: str, argument: bytes) -> bytes:
        """Have a request answered. Raises `RequestFailed`."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._asked(name, argument), self._loop))

    def tell(self, name: str, argument: bytes) -> None:
        """Have a request taken note of, without waiting."""
        asyncio.run_coroutine_threadsafe(self._asked(name, argument), self._loop)

    async def _asked(self, name: str, argument: bytes) -> bytes:
        return await self._on_request(name, argument)


class PythonModule:
    """The file `entry`, run with the functions that `make` makes of it, given a host and what loads the file. `name` is for people.

    `ended` says why it is gone for good. What it prints is added to the file `log`. `on_request` answers what it asks, raising
    `RequestFailed`; `on_ended` is told once when it ends by itself. The functions run on the module's event loop. Make it inside a
    running loop, which is the one that calls it, and `close` it there.
    """

    def __init__(
        self,
        name: str,
        entry: str,
        make: Make,
        *,
        log: Path | None,
        on_request: OnRequest,
        on_ended: OnEnded,
        blocked_seconds: float = BLOCKED_SECONDS,
    ) -> None:
        self.name = name
        self.ended: str | None = None
        self._folder = str(Path(entry).parent)
        self._log = PrintLog(log)
        self._code = PrivateImport(name, entry, self._log.print)
        self._on_ended = on_ended
        self._blocked_seconds = blocked_seconds
        self._outside = asyncio.get_running_loop()
        self._inside = asyncio.new_event_loop()
        self._inside.set_default_executor(DaemonThreads())
        self._inside.set_exception_handler(self._unhandled)
        self._functions = make(ModuleHost(self._outside, lambda name, argument: on_request(self, name, argument)), self._code.load)
        self._calls: set[asyncio.Future[bytes]] = set()
        self._doubt: asyncio.TimerHandle | None = None
        self._gone = asyncio.Event()
        threading.Thread(target=self._live, name=f"treblehook-{name}", daemon=True).start()

    async def call(self, name: str, argument: bytes) -> bytes:
        """Call the function `name`. Raises `NotRunning`, `CallFailed` and `ModuleEnded`.

        Where the caller is cancelled, so is the function; a module whose event loop then stands still is ended.
        """
        if self.ended is not None:
            raise NotRunning(self.ended)
        answer: asyncio.Future[bytes] = self._outside.create_future()
        running: list[asyncio.Task[None]] = []
        self._calls.add(answer)
        self._post(self._inside, lambda: running.append(self._inside.create_task(self._work(name, argument, answer))))
        try:
            return await answer
        except asyncio.CancelledError:
            self._post(self._inside, lambda: [task.cancel() for task in running])
            self._ask_for_life()
            raise
        finally:
            self._calls.discard(answer)

    def retire(self, why: str) -> None:
        """End it for good, as its owner wishes: what is running has failed."""
        if self.ended is not None:
            return
        self.ended = why
        self._trust()
        for answer in tuple(self._calls):
            if not answer.done():
                answer.set_exception(ModuleEnded(why))
        self._code.forget()
        self._post(self._inside, self._inside.stop)

    async def close(self) -> None:
        """End it within bounds; twice is fine."""
        self.retire("it was closed")
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._gone.wait()
        except TimeoutError:
            # It blocks: its thread is left behind, and goes with the process.
            return

    # In the thread of the module

    def _live(self) -> None:
        why = "its event loop was stopped"
        try:
            self._inside.run_forever()
        except BaseException as error:
            why = told(error, self._folder)
        finally:
            self._post(self._outside, self._end, why)
            self._leave()
            self._post(self._outside, self._gone.set)

    def _leave(self) -> None:
        """Cancel what still runs, and give the loop's resources back."""
        try:
            tasks = asyncio.all_tasks(self._inside)
            for task in tasks:
                task.cancel()
            if tasks:
                self._inside.run_until_complete(asyncio.wait(tasks, timeout=CLOSE_SECONDS))
            self._inside.run_until_complete(self._inside.shutdown_asyncgens())
        except BaseException as error:
            self._log.print(told(error, self._folder))
        finally:
            self._inside.close()

    async def _work(self, name: str, argument: bytes, answer: "asyncio.Future[bytes]") -> None:
        try:
            value = await self._functions[name](argument)
        except BaseException as error:
            # Also one that asks to leave: let out of a task, it would end the loop.
            self._post(self._outside, _settle, answer, CallFailed(told(error, self._folder)))
        else:
            self._post(self._outside, _settle, answer, value)

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._log.print(context["message"] + ("" if error is None else f": {told(error, self._folder)}"))

    # In the thread of whoever calls it

    def _end(self, why: str) -> None:
        if self.ended is None:
            self.retire(why)
            self._on_ended(self, why)

    def _ask_for_life(self) -> None:
        """Nobody waits for an answer any more: is the event loop standing still, or only that function?"""
        if self.ended is None and self._doubt is None:
            why = f"it blocked its event loop for {self._blocked_seconds:g} s"
            self._doubt = self._outside.call_later(self._blocked_seconds, self._end, why)
            # One round later: behind the first steps of calls that are on their way.
            self._post(self._inside, self._inside.call_soon, self._post, self._outside, self._trust)

    def _trust(self) -> None:
        if self._doubt is not None:
            self._doubt.cancel()
            self._doubt = None

    def _post(self, loop: asyncio.AbstractEventLoop, action: Callable[..., object], *arguments: Any) -> None:
        """Have something done in the other thread; a loop that is closed has nobody who waits for it."""
        try:
            loop.call_soon_threadsafe(action, *arguments)
        except RuntimeError:
            if not loop.is_closed():
                raise


def _settle(answer: "asyncio.Future[bytes]", result: "bytes | CallFailed") -> None:
    if answer.done():
        return
    if isinstance(result, CallFailed):
        answer.set_exception(result)
    else:
        answer.set_result(result)
