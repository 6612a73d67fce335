"""The inside of a VM: its state, entered by one thread at a time, with the values that go in and come out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from treblehook.runtimes.lua.errors import LuaClosed, LuaEntered, LuaFailed, LuaMemoryFull, LuaTimedOut
from treblehook.runtimes.lua.limits import LuaLimits
from treblehook.runtimes.lua.names import Names
from treblehook.runtimes.lua.state import SOURCE, WORDS, State
from treblehook.runtimes.lua.values import LuaFunction, Reader, flatten, text

# Values that cross as arguments; more go in as one table.
DIRECT = 40
# Leaves of a result that come with it.
WITH_RESULT = 6
# Calls from Lua to the host and back into Lua, inside of each other.
DEEPEST_ENTRY = 50
# Bytes that go in without a look at how much room there is.
SMALL = 32 * 1024

# The entry of the prelude that calls a function of the prelude by its name.
COMMAND = 2

Form = bytes | Literal[False]


def _nothing() -> int:
    return 0


class Machine:
    """`about` is what the run that executes right now was started with. `begun` is the wait that the code has just asked for."""

    def __init__(self, name: str, limits: LuaLimits, names: Names, host: Mapping[str, Callable[..., Any]]) -> None:
        self.name = name
        self.limits = limits
        self.names = names
        self.about: Any = None
        self.begun: Any = None
        self.ending: BaseException | None = None
        self.closed = False
        self.released: list[int] = []
        self.idle: list[Any] = []
        lock = threading.RLock()
        self.acquire, self.release = lock.acquire, lock.release
        self._depth = 0
        self._state: State | None = State(limits, host)
        self.used, self.most, self.broken = self._state.runtime.get_memory_used, limits.memory_bytes, self._state.broken

    @property
    def state(self) -> State:
        """Raises `LuaClosed`."""
        if self._state is None:
            raise LuaClosed(f"{self.name}: the VM is closed")
        return self._state

    def close(self) -> None:
        """Lets the state go; it is freed once nothing is inside."""
        self.closed = True
        self.idle.clear()
        self._state = None
        self.used, self.most = _nothing, -1

    # Entering.

    def now(self, seconds: float, *request: Any) -> Any:
        """Runs to the end, with `seconds` to compute."""
        self._enter()
        try:
            return self.checked(self.state.now(seconds, *request), request[1] if request[0] != COMMAND else None)
        except self.broken as error:
            raise self.told(str(error)) from error
        finally:
            self._leave()

    def resume(self, worker: Any, answer: tuple[Any, ...], about: Any, cpu_seconds: float | None = None) -> Any:
        """Goes on with a run: what its coroutine yields."""
        self._enter()
        before, self.about = self.about, about
        try:
            if cpu_seconds is not None:
                self.state.command(b"set_budget", cpu_seconds)
            return worker.send(answer)
        except self.broken as error:
            raise self.told(str(error)) from error
        finally:
            if cpu_seconds is not None:
                self.state.command(b"set_budget", self.limits.cpu_seconds)
            self.about = before
            self._leave()

    def worker(self) -> Any:
        """A coroutine for a run."""
        if self.idle:
            return self.idle.pop()
        self._enter()
        try:
            return self.state.worker()
        finally:
            self._leave()

    def _enter(self) -> None:
        if not self.acquire(False):
            raise LuaEntered(self.name)
        self._depth += 1
        if self.released or self.used() > self.most or self._depth > DEEPEST_ENTRY:
            try:
                self.look()
            except BaseException:
                self._leave()
                raise

    def look(self) -> None:
        """What is seldom needed on the way in."""
        if self._depth > DEEPEST_ENTRY:
            raise LuaFailed(f"{self.name}: Lua and its host call each other more than {DEEPEST_ENTRY} levels deep")
        if self.released:
            numbers = [self.released.pop() for _ in range(min(len(self.released), 200))]
            self.state.command(b"release", *numbers)
        self._make_room(self.state, 0)

    def _leave(self) -> None:
        self._depth -= 1
        self.release()

    def _make_room(self, state: State, needed: int) -> None:
        if state.used + needed > self.limits.memory_bytes:
            state.runtime.gccollect()
            if state.used + needed > self.limits.memory_bytes:
                raise LuaMemoryFull(f"{self.name}: {WORDS['MEMORY']}")

    # Values.

    def inward(self, values: tuple[object, ...]) -> tuple[bytes, list[Any]]:
        """Form and leaves of values that go in. Raises `LuaValueInvalid`, `LuaMemoryFull`."""
        form, leaves = flatten(values, self.released)
        size = len(form) + 64 * len(leaves) + sum([len(leaf) for leaf in leaves if type(leaf) is bytes])
        if size > SMALL:
            self._make_room(self.state, size)
        if len(leaves) > DIRECT:
            return b"T" + form, [self.state.runtime.table_from(leaves)]
        return form, leaves

    def arguments(self, form: Form, leaves: tuple[Any, ...]) -> list[Any]:
        """What a function of the host is called with."""
        if form is False:
            value = leaves[0]
            return [text(value) if type(value) is bytes else value]
        if form[:1] == b"T":
            return self._read(form[1:], self._taken(leaves[0]))
        return self._read(form, iter(leaves))

    def results(self, out: Any, function: int) -> list[Any]:
        """All that a function returned. Raises what the run ended with."""
        out = self.checked(out, function)
        return [] if out is None else self._read(out[1], self.leaves(out))

    def leaves(self, out: tuple[Any, ...]) -> Iterator[Any]:
        """The leaves of a result."""
        return iter(out[3:]) if out[2] <= WITH_RESULT else self._taken(out[2])

    def _taken(self, count: int) -> Iterator[Any]:
        taken: list[Any] = []
        while len(taken) < count:
            more = self.state.take()
            taken.extend(more if type(more) is tuple else (more,))
        return iter(taken)

    def _read(self, form: bytes, leaves: Iterator[Any]) -> list[Any]:
        reader = Reader(form, leaves, self.released)
        values = reader.values()
        if reader.invalid:
            raise reader.invalid[0]
        return values

    # Ends.

    def checked(self, out: Any, function: int | None = None) -> Any:
        """Raises what a run of `function` ended with, if it was an error."""
        if type(out) is not tuple:
            return out
        if out[0] == 4:
            if not out[2] and function is not None:
                # A tail call took the function's own frame from the stack: where it begins is all that can be told.
                out = (*out[:2], *self.state.now(1.0, COMMAND, b"defined_at", function)[1:], out[4])
            raise self.failed(out[1].decode("utf-8", "replace"), *out[2:])
        if out[0] == 3:
            ending, self.ending = self.ending, None
            raise ending or self.told(out[1].decode("utf-8", "replace"))
        return out

    def failed(self, message: str, source: Form = False, line: int = 0, traceback: bytes = b"") -> LuaFailed:
        """An error that arose in the code."""
        file = self.names.file(source) if source and source != SOURCE[1:] else ""
        if message.startswith("?:"):
            message = f"{file}:{line}:{message.split(':', 2)[2]}"
        message = self.names.expanded(message)
        found = self.names.place(message)
        if found is not None:
            file, line = found
        kind = LuaMemoryFull if "not enough memory" in message else LuaFailed
        return kind(message, file, line or 0, self._own_frames(traceback))

    def _own_frames(self, traceback: bytes) -> str:
        """The lines of a traceback without those of the prelude."""
        lines = self.names.expanded(traceback.decode("utf-8", "replace")).split("\n")
        return "\n".join([line for line in lines if not line.startswith(("\t?: in", "\t(...tail")) and "in function 'xpcall'" not in line])

    def told(self, message: str) -> LuaFailed:
        """A limit that was met, or an end that Lua itself could not report."""
        said = f"{self.name}: {message or WORDS['MEMORY']}"
        if message == WORDS["CPU"]:
            return LuaTimedOut(said)
        return LuaMemoryFull(said) if not message or "not enough memory" in message else LuaFailed(said)

    def number(self, function: LuaFunction) -> int:
        """The function's number inside. Raises `ValueError` for a function of another VM."""
        if function.released is not self.released:
            raise ValueError(f"{self.name}: the function belongs to another VM")
        return function.number
