"""The sessions of one guarding object: each conversation of an SDK has one, which hooks are told the start and the end of."""

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, TypeVar

from treblehook.adapters.guarded import RUNNING, Guarded, on_loop
from treblehook.adapters.opening import loop_of, open_session
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

T = TypeVar("T")

SESSIONS: Final = 128
"""How many conversations are kept open; when one more begins, the one that has been quiet for longest and is in no turn is ended."""

CROWDED: Final = 1024
"""From this many on, one that is in a turn is ended too: some SDKs never tell that a run has failed."""


STALLED: Final = "a call that is not async would stall the event loop that the home is open on; use the SDK's async calls"


class NotBegun(Exception):
    """Whoever began the session was cancelled over it."""


class Guard:
    """Guards the agents of one SDK with `hooks`. A `Home` is open wherever this is used, and is asked on the event loop that opened it."""

    def __init__(self, hooks: Hooks | Home, sdk: str, workspace: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(hooks, Hooks | Home):
            raise TypeError(f"hooks is {hooks!r}; allowed are a Hooks and a Home")
        self._hooks = hooks
        self._sdk = sdk
        self._workspace = Path(workspace or ".").resolve()
        self._begin_afresh()

    def _begin_afresh(self) -> None:
        self._process = os.getpid()
        self._sessions: OrderedDict[str, Future[Guarded]] = OrderedDict()
        self._lock = threading.Lock()
        self._thread: asyncio.AbstractEventLoop | None = None

    def _check_process(self) -> None:
        """A process that was forked off has no thread of ours, and the sessions are those of the other one."""
        if self._process != os.getpid():
            self._begin_afresh()

    async def session(self, key: str, tools: tuple[str, ...] = (), model: str = "") -> Guarded:
        """The session of the conversation `key`, begun where it is new. Whoever comes meanwhile waits until it has begun.

        Begun in the code of a tool that the same hooks guard, it is that of a subagent.

        Raises what opening it raises, since hooks that do not load must not be missing, and RuntimeError where the home is not open.
        """
        self._check_process()
        loop = loop_of(self._hooks)
        while True:
            with self._lock:
                known = self._known(key)
                future = known or self._add(key)
            if known is None:
                return await self._begun(key, future, loop, tools, model)
            try:
                return await asyncio.wrap_future(known)
            except NotBegun:
                continue

    def _known(self, key: str) -> "Future[Guarded] | None":
        known = self._sessions.get(key)
        if known is None or (known.done() and not known.result().is_open):
            return None
        self._sessions.move_to_end(key)
        return known

    def _add(self, key: str) -> "Future[Guarded]":
        future: Future[Guarded] = Future()
        # A waiter that is cancelled must not cancel it for the others.
        future.set_running_or_notify_cancel()
        self._sessions[key] = future
        return future

    async def _begun(
        self, key: str, future: "Future[Guarded]", loop: asyncio.AbstractEventLoop | None, tools: tuple[str, ...], model: str
    ) -> Guarded:
        try:
            quiet = self._quiet()
            if quiet is not None:
                await quiet.end("idle")
            guarded = await self._begin(loop, tools, model)
        except BaseException as error:
            with self._lock:
                if self._sessions.get(key) is future:
                    del self._sessions[key]
            future.set_exception(error if isinstance(error, Exception) else NotBegun())
            raise
        future.set_result(guarded)
        return guarded

    async def _begin(self, loop: asyncio.AbstractEventLoop | None, tools: tuple[str, ...], model: str) -> Guarded:
        running = RUNNING.get()
        parent = running.session if running is not None and running.session.hooks is self._hooks else None
        opening = open_session(self._hooks, self._sdk, self._workspace, tools, None if parent is None else parent.id)
        session = await on_loop(loop, opening)
        try:
            started = await on_loop(loop, session.agent.start(model=model))
        except BaseException:
            await on_loop(loop, session.close("closed"))
            raise
        return Guarded(session, started.context, parent)

    def _quiet(self) -> Guarded | None:
        """The session to make room of, which is no longer kept then."""
        with self._lock:
            if len(self._sessions) <= SESSIONS:
                return None
            crowded = len(self._sessions) > CROWDED
            begun = ((key, future.result()) for key, future in self._sessions.items() if future.done())
            key = next((key for key, guarded in begun if crowded or not guarded.in_turn), None)
            return None if key is None else self._sessions.pop(key).result()

    async def end(self, key: str) -> None:
        """End the session of a conversation, where there is one."""
        self._check_process()
        with self._lock:
            future = self._sessions.pop(key, None)
        if future is None:
            return
        await asyncio.wait([asyncio.wrap_future(future)])
        # Whoever began one that has not begun was told why.
        if future.exception() is None:
            await future.result().end()

    async def close(self) -> None:
        """End every session. Using the guard again begins new ones."""
        self._check_process()
        with self._lock:
            keys = list(self._sessions)
        ends = await asyncio.gather(*(self.end(key) for key in keys), return_exceptions=True)
        for failure in ends:
            if isinstance(failure, BaseException):
                raise failure

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` comes to, for callers that are not async. Raises RuntimeError on the loop that would have to do it."""
        try:
            self._check_process()
            loop = loop_of(self._hooks) or self._own_loop()
            if _is_running(loop):
                raise RuntimeError(STALLED)
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            # An interrupt ends the wait alone otherwise.
            future.cancel()
            raise

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        """A loop in a thread of its own, which ends with the process."""
        with self._lock:
            if self._thread is None:
                self._thread = asyncio.new_event_loop()
                threading.Thread(target=self._thread.run_forever, name=f"treblehook-{self._sdk}", daemon=True).start()
            return self._thread


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
