"""A Lua function that answers events: the path of every event, so it is written flat."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from treblehook.runtimes.lua.errors import LuaEntered
from treblehook.runtimes.lua.machine import Machine
from treblehook.runtimes.lua.shapes import Shapes, shape
from treblehook.runtimes.lua.values import NOTHING, LuaFunction, LuaReturn, Reader, text
from treblehook.runtimes.lua.waiting import Waiting

# The entry of the prelude that takes tables in flat form.
ANY_SHAPE = 1


class LuaHandler(Protocol):
    """`await handler(ctx, event)` is the first result of the function.

    `about` is what `vm.about` is meanwhile; `seconds` is how long the handler may wait altogether (None: as the VM's limits say). Raises
    `LuaFailed` and its kinds, and `LuaEntered`.
    """

    def __call__(
        self, ctx: Mapping[str, Any], event: Mapping[str, Any], about: Any = None, seconds: float | None = None
    ) -> Awaitable[LuaReturn]: ...


def handler(machine: Machine, waiting: Waiting, shapes: Shapes, function: LuaFunction) -> LuaHandler:
    """Calls `function` with a context and an event, again and again."""
    number = machine.number(function)
    entry_of, idle, acquire, release, broken = shapes.entries.get, machine.idle, machine.acquire, machine.release, machine.broken

    def by_pieces(ctx: Mapping[str, Any], event: Mapping[str, Any]) -> tuple[Any, ...]:
        form, leaves = machine.inward((ctx, event))
        return ANY_SHAPE, function.number, form, *leaves

    async def handle(ctx: Mapping[str, Any], event: Mapping[str, Any], about: Any = None, seconds: float | None = None) -> LuaReturn:
        leaves: list[Any] = [0, number]
        try:
            found = shape(ctx, leaves), shape(event, leaves)
            entry = entry_of(found) or shapes.learn(found, len(leaves) - 2)
        except UnicodeEncodeError:
            entry = 0
        leaves[0] = entry
        request = tuple(leaves) if entry else by_pieces(ctx, event)
        if not acquire(False):
            raise LuaEntered(machine.name)
        before, machine.about = machine.about, about
        try:
            if machine.released or machine.used() > machine.most:
                machine.look()
            worker = idle.pop() if idle else machine.state.worker()
            try:
                out = worker.send(request)
            except OverflowError:
                out = worker.send(by_pieces(ctx, event))
        except broken as error:
            raise machine.told(str(error)) from error
        finally:
            machine.about = before
            release()
        if out is None:
            idle.append(worker)
            return NOTHING
        if out.__class__ is int:
            out = await waiting.through(worker, about, machine.limits.wait_seconds if seconds is None else seconds)
        idle.append(worker)
        return NOTHING if out is None else _returned(machine, out, number)

    return handle


def _returned(machine: Machine, out: Any, number: int) -> LuaReturn:
    out = machine.checked(out, number)
    if out[0] == 5:
        value = out[1]
        if value.__class__ is bytes:
            return LuaReturn("string", text(value))
        return LuaReturn("boolean" if value.__class__ is bool else "number", value)
    if out[0] == 6:
        return LuaReturn(out[1].decode())
    return LuaReturn("table", table=Reader(out[1], machine.leaves(out), machine.released).values()[0])
