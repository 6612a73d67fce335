"""One policy decision of a WebAssembly hook, beside the library's stock call of the same function with the same values.

Both are made on the guest's own thread, a batch at a time, so that only the calls differ. What the engine and the guest need without any
conversion is the call alone: arguments that lie ready, an answer that nobody reads. Awaited is what a caller on the event loop waits for,
with the way to the guest's thread and back; that way takes longer where each thread has to wake a core of its own.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.row import Limit, Line
from benchmarks.rows._guests import EVENT, LIFECYCLE, ON_SHELL, exports, opened
from benchmarks.timing import Action, fastest
from treblehook.runtimes.wasm import Instance
from treblehook.runtimes.wasm.binding import direct
from treblehook.runtimes.wasm.binding.layout import VALUE
from treblehook.runtimes.wasm.binding.stock import to_stock

ROUNDS = 60
AT_ONCE = 100
"""Calls for each way to the guest's thread, where that is not to be measured."""
LIMITS = {"c_guard": Limit(at_least=5), "python_guard": Limit(at_least=3)}
NAMES = {"c_guard": "a C component", "python_guard": "a Python-built component"}


async def measure() -> list[Line]:
    """Both guests, one after the other."""
    lines = []
    for name, limit in LIMITS.items():
        with tempfile.TemporaryDirectory() as folder:
            async with opened(name, Path(folder)) as instance:
                best = await fastest(_actions(instance), rounds=ROUNDS)
        for action in ("ours", "stock", "alone"):
            best[action] /= AT_ONCE
        what = f"one policy call to {NAMES[name]}"
        lines += [
            Line(what, "wasmtime-py's stock call", best["ours"], best["stock"], limit),
            Line(what, "the engine and the guest alone", best["ours"], best["alone"]),
            Line(f"{what}, awaited", "wasmtime-py's stock call", best["awaited"], best["stock"]),
            Line(f"{what}, awaited", "a bare way to its thread and back", best["awaited"], best["hop"]),
        ]
    return lines


def _actions(instance: Instance) -> dict[str, Action]:
    def on_its_thread(call: Callable[[], object]) -> Action:
        def several(times: int) -> None:
            for _ in range(times * AT_ONCE):
                call()

        return lambda times: instance._worker.run(lambda: several(times))

    async def awaited(times: int) -> None:
        for _ in range(times):
            await instance.call(ON_SHELL, EVENT, seconds=30)

    async def hop(times: int) -> None:
        for _ in range(times):
            await instance._worker.run(int)

    ours = instance._functions[ON_SHELL]
    return {
        "ours": on_its_thread(lambda: ours((EVENT,))),
        "stock": on_its_thread(_stock(instance)),
        "alone": on_its_thread(_alone(instance)),
        "awaited": awaited,
        "hop": hop,
    }


def _function(instance: Instance) -> tuple[Any, Any]:
    """The library's store and function."""
    guest: Any = instance._guest
    index = guest._instance.get_export_index(guest._store, LIFECYCLE)
    return guest._store, guest._instance.get_func(guest._store, guest._instance.get_export_index(guest._store, "on-shell", index))


def _stock(instance: Instance) -> Callable[[], object]:
    store, function = _function(instance)
    event = to_stock(EVENT, exports()[ON_SHELL].params[0].type)
    return lambda: function(store, event)


def _alone(instance: Instance) -> Callable[[], object]:
    store, function = _function(instance)
    arena = instance._guest._arena  # type: ignore[union-attr]  # it has been started
    base, empty = arena.base, bytes(VALUE)
    function_address = direct.ctypes.addressof(function._func)
    context = direct.ctypes.cast(store._context(), direct.ctypes.c_void_p).value

    def call() -> None:
        # The arguments of our last call still lie there, behind the room for an answer, which must be empty.
        arena.memory[:VALUE] = empty
        direct._call(function_address, context, base + VALUE, 1, base, 1)
        direct._delete(base)

    call.keeps = function  # type: ignore[attr-defined]  # its memory is what the address is of
    return call
