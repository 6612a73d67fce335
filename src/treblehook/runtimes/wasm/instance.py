"""A running component: what a caller on the event loop sees of it. The guest itself is only ever entered by its own thread."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from treblehook.runtimes.wasm.binding.convert import Conversion
from treblehook.runtimes.wasm.binding.engine import Engine
from treblehook.runtimes.wasm.binding.guest import Guest
from treblehook.runtimes.wasm.binding.host import Host
from treblehook.runtimes.wasm.binding.misfit import Misfit
from treblehook.runtimes.wasm.component import Component
from treblehook.runtimes.wasm.deadlines import Deadlines, Running
from treblehook.runtimes.wasm.errors import CallEnded, Cancelled, HostFunctionFailed, InstanceEnded, Reentered, WasmError
from treblehook.runtimes.wasm.grants import Grants, HostFunction, Limits
from treblehook.runtimes.wasm.output import Capture, Output
from treblehook.runtimes.wasm.types import FunctionType
from treblehook.runtimes.wasm.values import Value
from treblehook.runtimes.wasm.worker import Worker

_CLOSE: Final = 1.0
"""Seconds that a guest has to stop when its instance is closed."""


_callers: ContextVar[tuple[object, ...]] = ContextVar("callers", default=())
"""The guests that wait for what is being done, each as its `Instance._mark`."""


class Instance:
    """`exports` are the functions that may be called, by name, with the types that are believed; a component's function of another type is
    not called. Calls wait for each other. After a call that ended without an answer no other is made."""

    def __init__(
        self,
        engine: Engine,
        conversion: Conversion,
        deadlines: Deadlines,
        component: Component,
        exports: Mapping[str, FunctionType],
        grants: Grants,
        limits: Limits,
        closed: Callable[["Instance"], None],
    ) -> None:
        self._engine = engine
        self._conversion = conversion
        self._deadlines = deadlines
        self._component = component
        self._exports = exports
        self._grants = grants
        self._limits = limits
        self._on_closed = closed
        self._stdout, self._stderr = Capture(limits.output_bytes), Capture(limits.output_bytes)
        self._worker = Worker(f"treblehook-wasm-{component.digest[:8]}")
        self._loop = asyncio.get_running_loop()
        self._guest: Guest | None = None
        self._functions: dict[str, Callable[[Sequence[Any]], Any]] = {}
        self._running: Running | None = None
        self._host_work: Future[Any] | None = None
        self._calls: dict[Running, asyncio.Future[Any]] = {}
        self._why: WasmError | None = None
        self._closed = False
        self._mark = object()

    @property
    def ended(self) -> WasmError | None:
        """Why it cannot be called any more; None while it can."""
        return InstanceEnded(self._why) if self._closed or self._why is not None else None

    @property
    def stdout(self) -> Output:
        return self._stdout.output

    @property
    def stderr(self) -> Output:
        return self._stderr.output

    async def start(self, seconds: float) -> None:
        """Instantiate the component. Raises `CallEnded`, `CannotStart`."""
        await self._stay(seconds, self._begin)

    async def call(self, name: str, *arguments: Value, seconds: float) -> Value:
        """Call the exported function `name` (`INTERFACE#FUNCTION`) and wait for its answer, `seconds` at most from when it is entered.

        `WrongValue`, `NotExported` and `WrongType` leave the instance as it was; after `CallEnded`, or if the caller is cancelled while
        the guest runs, it is ended. An instance that has ended raises `InstanceEnded`, one that waits for the caller `Reentered`.
        `KeyError`: `name` is not in `exports`.
        """
        expected = self._exports[name]
        return await self._stay(seconds, lambda: self._function(name, expected)(arguments))

    async def close(self) -> None:
        """End what it does, its thread, and its memory; twice is fine. A thread that hangs in a host function is left to itself."""
        if self._closed:
            return
        self._closed = True
        for running, future in self._calls.items():
            self._cancel(running)
            if not future.done():
                future.set_exception(InstanceEnded(self._why))
        # What it raised leads back to this instance.
        self._why = None
        self._on_closed(self)
        if not self._worker.begun:
            return
        done = self._worker.run(self._release)
        self._worker.end()
        await asyncio.wait({done}, timeout=_CLOSE)
        if done.done():
            self._worker.join()

    async def _stay(self, seconds: float, work: Callable[[], Any]) -> Any:
        """Do `work` in the guest."""
        if (ended := self.ended) is not None:
            raise ended
        callers = _callers.get()
        if self._mark in callers:
            raise Reentered
        running = Running(seconds, self._tell_given_up, callers)
        future = self._calls[running] = self._worker.run(partial(self._enter, running, work))
        try:
            return await future
        except asyncio.CancelledError:
            self._cancel(running)
            raise
        finally:
            del self._calls[running]
            # An error leads to this frame, and both of these to the error: the guest would stay until the garbage collector comes by.
            del future, running

    # On the event loop

    def _cancel(self, running: Running) -> None:
        """Nobody waits for it any more."""
        self._deadlines.stop(running, Cancelled())
        if self._running is running and self._host_work is not None:
            self._host_work.cancel()

    def _give_up(self, running: Running, why: CallEnded) -> None:
        self._why = self._why or why
        if self._host_work is not None:
            self._host_work.cancel()
        future = self._calls.get(running)
        if future is not None and not future.done():
            future.set_exception(why)

    def _tell_given_up(self, running: Running, why: CallEnded) -> None:
        """Called on the thread that watches the deadlines."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._give_up, running, why)

    # On the instance's own thread

    def _enter(self, running: Running, work: Callable[[], Any]) -> Any:
        if self._why is not None or self._closed:
            raise InstanceEnded(self._why)
        if (stopped := self._deadlines.start(running)) is not None:
            raise stopped
        self._running = running
        try:
            return work()
        except CallEnded as error:
            if not self._closed:
                self._why = running.why or error
            if running.why is None:
                raise
            raise running.why from running.why.__cause__
        finally:
            self._deadlines.end(running)
            self._running = None
            del running

    def _begin(self) -> None:
        hosts = {
            interface.name: self._hosts(interface.name, interface.functions, self._component.stubs(interface))
            for interface in self._grants.interfaces
            if interface.name in self._component.imports
        }
        self._guest = Guest(
            self._engine,
            self._conversion,
            self._component.code,
            self._component.imports,
            hosts,
            self._grants.wasi,
            self._limits,
            (self._stdout, self._stderr),
            self._must_stop,
        )

    def _release(self) -> None:
        self._functions.clear()
        if self._guest is not None:
            self._guest.close()
            self._guest = None

    def _function(self, name: str, expected: FunctionType) -> Callable[[Sequence[Any]], Any]:
        function = self._functions.get(name)
        if function is None:
            assert self._guest is not None, "an instance is called after it was started"
            self._component.check_export(name, expected)
            function = self._functions[name] = self._guest.function(name, expected)
        return function

    def _must_stop(self) -> str | None:
        running = self._running
        why = None if running is None else self._deadlines.expired(running)
        return None if why is None else str(why)

    # A host function, called by the guest

    def _hosts(self, interface: str, functions: Mapping[str, HostFunction], stubs: Sequence[str]) -> list[Host]:
        given = [self._host(interface, name, function) for name, function in functions.items()]
        return given + [self._host(interface, name, _STUB) for name in stubs]

    def _host(self, interface: str, name: str, function: HostFunction) -> Host:
        full = f"{interface}#{name}"

        def failed(error: BaseException) -> str:
            cause = error.wrong("its value") if isinstance(error, Misfit) else error
            running = self._running
            if running is not None:
                running.why = running.why or HostFunctionFailed(full, cause)
            return f"{full} failed"

        return Host(name, function.type, lambda arguments: self._run(function, arguments), failed)

    def _run(self, function: HostFunction, arguments: Sequence[Any]) -> Any:
        running = self._running
        assert running is not None, "a guest calls only while it is being called"
        if not function.counts:
            self._deadlines.pause(running)
        try:
            value = function.call(*arguments)
            if not inspect.iscoroutine(value):
                return value
            _callers.set((*running.callers, self._mark))
            self._host_work = asyncio.run_coroutine_threadsafe(value, self._loop)
            if running.why is not None:
                self._host_work.cancel()
            return self._host_work.result()
        finally:
            self._host_work = None
            self._deadlines.resume(running)


def _not_given() -> Value:
    raise NotImplementedError("only its types were granted")


_STUB: Final = HostFunction(FunctionType(()), _not_given)
"""Whatever the guest's own type of it, nothing of that is read or answered."""
