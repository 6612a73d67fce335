"""The one place that touches the Lua library, which has no types: a Lua state with the prelude loaded, and what of it is called."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from treblehook.runtimes.lua.limits import LuaLimits
from treblehook.runtimes.lua.values import DEEPEST

FILES = ("run", "values", "strings", "system", "host")
# How Lua calls the chunks of the prelude, which are loaded without debug information.
SOURCE = b"=?"
# What the state may take beyond the limit that a run meets, so that the host's own few values always find room.
HEADROOM = 2 * 1024 * 1024
# Leaves of a big value that cross at once.
CHUNK = 2000

WORDS = {
    "CPU": "the code computed longer than it may without waiting",
    "MEMORY": "not enough memory: the VM's limit is reached",
    "HOST": "the host ended the run",
    "LOOPING": "an error object whose __tostring did not end",
    "NOT_HERE": "cannot wait here: a sort or gsub function, a metamethod or an iterator is on the way",
    "NO_WAIT": "cannot wait here: the host needs the result at once",
}


class State:
    """A Lua state.

    `host` are the functions of the host that the prelude calls; they must not raise. `broken` is what a call raises when Lua could not
    even report the error.
    """

    def __init__(self, limits: LuaLimits, host: Mapping[str, Callable[..., Any]]) -> None:
        library = _library()
        self.broken: type[Exception] = library.LuaError
        self.runtime: Any = library.LuaRuntime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_handlers=(_refuse, _refuse),
            max_memory=limits.memory_bytes + HEADROOM,
        )
        shared: dict[str, Any] = {name: word.encode() for name, word in WORDS.items()}
        shared |= {"SOURCE": SOURCE, "deepest": DEEPEST, "chunk": CHUNK, "cpu_time": time.thread_time, "later": chunk}
        shared |= {"cpu_seconds": limits.cpu_seconds, "soft_kilobytes": limits.memory_bytes / 1024, "public": self.runtime.table(), **host}
        self.prelude: Any = self.runtime.table_from({name.encode(): value for name, value in shared.items()})
        for name in FILES:
            self.runtime.execute(chunk(name.encode()), self.prelude, mode="b")
        self.now: Any = self.prelude[b"now"]
        self.worker: Callable[[], Any] = self.prelude[b"worker"]
        self.take: Any = self.prelude[b"take"]
        # Indexing a Lua table while a coroutine of the user runs answers what else is on Lua's stack, so it is done here.
        self._commands: dict[bytes, Any] = {name: self.prelude[name] for name in (b"release", b"set_budget", b"caller")}

    def command(self, name: bytes, *arguments: Any) -> Any:
        """Calls a function of the prelude that runs nothing of the user's."""
        return self._commands[name](*arguments)

    @property
    def used(self) -> int:
        """Bytes in use."""
        return int(self.runtime.get_memory_used(True))


def _library() -> Any:
    """The library, by the name of its Lua 5.4; it comes late and without types."""
    return import_module("lupa.lua54")


def _refuse(*_: object) -> None:
    raise AttributeError("a Python object has nothing for Lua")


@cache
def chunk(name: bytes) -> bytes:
    """A file of the prelude, compiled: every VM of this process loads the same code."""
    source = (files("treblehook.runtimes.lua") / "prelude" / f"{name.decode()}.lua").read_bytes()
    compiled: bytes = (
        _library()
        .LuaRuntime(encoding=None)
        .eval(b"function(source, name) return string.dump(assert(load(source, name)), true) end")(source, b"@" + name)
    )
    return compiled
