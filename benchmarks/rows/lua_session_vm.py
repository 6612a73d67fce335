"""A session VM with its prelude: what it costs before any user code, over a thousand of them, beside the library's own bare state."""

import gc
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks.row import Limit, Line, Missing
from treblehook.runtimes.lua import LuaVM

T = TypeVar("T")

COUNT = 1000
KIB = 1024


async def measure() -> list[Line]:
    try:
        from lupa.lua54 import LuaRuntime
    except ImportError:
        raise Missing("the extra `lua`") from None
    bare = LuaRuntime(max_memory=1 << 26)
    own = bare.get_memory_used(True)
    states, other, bare_seconds = _cost(lambda: LuaRuntime(max_memory=1 << 26))
    LuaVM("first", output=print).close()
    held, ours, seconds = _cost(lambda: LuaVM("bench", output=print))
    lua = held[0].memory
    for vm in held:
        vm.close()
    del states, held
    return [
        Line("a session VM with its prelude: Lua memory", "a bare state", lua, own, Limit(more=100 * KIB - own), unit="B"),
        Line("a session VM with its prelude: process memory", "a bare state", ours, other, Limit(more=100 * KIB - other), unit="B"),
        Line("making a session VM", "making a bare state", seconds, bare_seconds),
    ]


def _cost(make: Callable[[], T]) -> tuple[list[T], float, float]:
    """A thousand of something, with the bytes of process memory and the seconds of each."""
    gc.collect()
    before, began = _resident(), time.perf_counter()
    made = [make() for _ in range(COUNT)]
    return made, (_resident() - before) / COUNT, (time.perf_counter() - began) / COUNT


def _resident() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        raise Missing("/proc/self/statm") from None
    return pages * resource.getpagesize()
