"""One Lua VM: what is loaded into it, what the host provides, and how its functions are called."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from treblehook.runtimes.lua.errors import LuaFailed
from treblehook.runtimes.lua.handler import LuaHandler, handler
from treblehook.runtimes.lua.host_files import is_file, refused, source_reader
from treblehook.runtimes.lua.limits import LuaLimits
from treblehook.runtimes.lua.machine import COMMAND, Machine
from treblehook.runtimes.lua.names import Names
from treblehook.runtimes.lua.provided import beginning, called
from treblehook.runtimes.lua.shapes import Shapes
from treblehook.runtimes.lua.source import prepared
from treblehook.runtimes.lua.state import SOURCE
from treblehook.runtimes.lua.values import ArrayMark, LuaFunction, LuaValue
from treblehook.runtimes.lua.waiting import Waiting, waits

# Seconds that compiling a file, or loading library code, may compute.
LOADING = 1.0
# Entries of the prelude: all results in flat form; the first result held inside.
ALL, HELD = 0, 3


class LuaVM:
    """A Lua 5.4 state with limits.

    It runs on the thread that calls it, one thread at a time (`LuaEntered` otherwise). Runs take turns where they wait. Different VMs may
    run in parallel. `clock` (seconds) measures waits.
    """

    def __init__(
        self,
        name: str,
        *,
        limits: LuaLimits | None = None,
        output: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.limits = limits or LuaLimits()
        self._names = Names()
        self._tasks: set[asyncio.Task[None]] = set()
        host: dict[str, Callable[..., Any]] = {
            "write": lambda form, *leaves: write(form, *leaves),
            "abandon": lambda: setattr(machine, "begun", None),
            "read_source": source_reader(self._names),
            "is_file": is_file,
            "refused_file": refused,
        }
        self._machine = machine = Machine(name, self.limits, self._names, host)
        self._waiting = Waiting(machine, clock)
        self._shapes = Shapes(machine)
        write = called(machine, lambda text: output(text if isinstance(text, str) else text.decode("utf-8", "replace")))

    # What the host gives.

    def provide(self, path: str, function: Callable[..., Any], *, tables: Literal["copy", "raw"] = "copy") -> None:
        """Puts a function of the host at `path` ("cru.fs.read"), making the tables on the way.

        It is called with converted arguments (trailing nils dropped; with `tables="raw"` a table is a `LuaTable`); its result is converted,
        a tuple to several results. `LuaRaise` becomes an error at the caller's line, any other exception an error "Class: message".
        """
        self._command(b"provide", called(self._machine, function), tables == "raw", path.encode(), *_names(path))

    def provide_async(self, path: str, function: Callable[..., Awaitable[Any]], *, at_once: Callable[..., Any] | None = None) -> None:
        """The same for an async function: the calling run waits for it, others go on. `at_once` stands in where a run may not wait."""
        begin = beginning(self._machine, function)
        if at_once is None:
            self._command(b"provide_waiting", begin, path.encode(), *_names(path))
        else:
            self._command(b"provide_either", begin, called(self._machine, at_once), path.encode(), *_names(path))

    def provide_value(self, path: str, value: LuaValue | ArrayMark) -> None:
        """Puts a value at `path`. Raises `LuaValueInvalid`."""
        form, leaves = self._machine.inward(([value],))
        self._command(b"provide_value", form, self._machine.state.runtime.table_from(leaves), *_names(path))

    def provide_lua(self, path: str, source: str, *arguments: LuaValue) -> None:
        """Runs library code, which gets `arguments` as `...`, and puts its first result at `path`.

        The place that `caller` and an error of ours tell is the one in the user's code that called it.
        """
        code = self._compiled(source.encode(), SOURCE)
        form, leaves = self._machine.inward(arguments)
        held = self._machine.now(LOADING, HELD, code.number, form, *leaves)[1]
        self.provide_value(path, LuaFunction(held, self._machine.released))

    def _command(self, name: bytes, *arguments: Any) -> Any:
        return self._machine.now(LOADING, COMMAND, name, *arguments)

    # Calling.

    def load(self, source: bytes, file: str) -> LuaFunction:
        """Compiles a file without running it. Raises `LuaFailed` with file and line for a syntax error."""
        return self._compiled(prepared(source), self._names.chunk(file))

    def load_library(self, source: bytes) -> LuaFunction:
        """Compiles code of the host's own: no error is told to be in it, but where the user's code was that it called, if that is known."""
        return self._compiled(source, SOURCE)

    def _compiled(self, source: bytes, chunk: bytes) -> LuaFunction:
        code, result = self._command(b"load", source, chunk)
        if code:
            failed = self._machine.failed(result.decode("utf-8", "replace"))
            failed.file = failed.file or self._names.file(chunk[1:])
            raise failed
        return LuaFunction(result, self._machine.released)

    def run_now(self, function: LuaFunction, *args: LuaValue, about: Any = None, cpu_seconds: float | None = None) -> list[Any]:
        """Calls to the end, on this thread; a waiting function raises a Lua error inside. All results, converted.

        Raises `LuaFailed` and its kinds, `LuaEntered`.
        """
        machine = self._machine
        form, leaves = machine.inward(args)
        before = machine.about
        machine.about = before if about is None else about
        try:
            number = machine.number(function)
            return machine.results(machine.now(cpu_seconds or self.limits.cpu_seconds, ALL, number, form, *leaves), number)
        finally:
            machine.about = before

    async def run(
        self, function: LuaFunction, *args: LuaValue, about: Any = None, seconds: float | None = None, cpu_seconds: float | None = None
    ) -> list[Any]:
        """Calls as a coroutine, which may wait for `seconds` altogether. Cancelling ends it inside of Lua too. All results, converted.

        Raises `LuaFailed` and its kinds, `LuaEntered`.
        """
        machine = self._machine
        about = machine.about if about is None else about
        form, leaves = machine.inward(args)
        worker = machine.worker()
        out = machine.resume(worker, (ALL, machine.number(function), form, *leaves), about, cpu_seconds)
        if waits(out):
            out = await self._waiting.through(worker, about, self.limits.wait_seconds if seconds is None else seconds, cpu_seconds)
        results = machine.results(out, machine.number(function))
        machine.idle.append(worker)
        return results

    def spawn(self, function: LuaFunction, *args: LuaValue, about: Any = None, failed: Callable[[LuaFailed], None]) -> asyncio.Task[None]:
        """Runs in the background; `failed` is told how it failed."""
        about = self.about if about is None else about

        async def background() -> None:
            try:
                await self.run(function, *args, about=about)
            except LuaFailed as error:
                failed(error)

        task = asyncio.get_running_loop().create_task(background())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def handler(self, function: LuaFunction) -> LuaHandler:
        """A function that is called with a context and an event, again and again."""
        return handler(self._machine, self._waiting, self._shapes, function)

    def cut(self, whose: Callable[[Any], bool]) -> None:
        """Ends the runs that wait now and whose `about` is of the kind: with `LuaClosed`, soon."""
        self._waiting.cut(whose)

    # Looking.

    @property
    def about(self) -> Any:
        """The `about` of the run that executes right now."""
        return self._machine.about

    def caller(self) -> tuple[str, int]:
        """File and line of the Lua code that is calling a function of the host right now; ("", 0) outside of such a call."""
        source, line = self._machine.state.command(b"caller")
        return self._names.file(source) if source else "", line or 0

    def defined_at(self, function: LuaFunction) -> tuple[str, int]:
        """File and line where a function begins."""
        _, source, line = self._command(b"defined_at", self._machine.number(function))
        return self._names.file(source), line

    @property
    def memory(self) -> int:
        """Bytes that the VM holds."""
        return 0 if self.closed else self._machine.state.used

    @property
    def closed(self) -> bool:
        """Whether the VM was closed."""
        return self._machine.closed

    def close(self) -> None:
        """Frees the VM. Runs that wait end with `LuaClosed`; call it on their thread."""
        if self.closed:
            return
        self._machine.closed = True
        self._waiting.end()
        self._machine.close()


def _names(path: str) -> list[bytes]:
    return path.encode().split(b".")
