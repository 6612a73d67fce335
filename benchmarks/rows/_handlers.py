"""What several rows share: plain handlers, and a dispatcher that asks them."""

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.timing import Action
from treblehook.engine import Background, Dispatcher, Handler, Journal, Origin, Registry, Tier
from treblehook.lifecycle import Event, PreToolCall, ToolCall

COUNT = 10
EVENT = PreToolCall(session="s1", workspace="/w", call=ToolCall("c1", "bash", {"command": "ls"}))

Function = Callable[[Any], Awaitable[None]]


def functions(count: int = COUNT) -> list[Function]:
    """So many coroutine functions that pass."""

    def one() -> Function:
        async def passes(event: Any) -> None:
            return None

        return passes

    return [one() for _ in range(count)]


def handler(kind: type[Event], ask: Function, *, pattern: str | None = None) -> Handler:
    """A handler without a time limit."""
    return Handler(kind, ask, name="passes", origin=Origin("python", kind.__name__), tier=Tier.PYTHON, pattern=pattern)


def dispatcher(*handlers: Handler, journal: bool) -> Dispatcher:
    """A dispatcher with these handlers."""
    registry = Registry()
    for each in handlers:
        registry.add(each)
    return Dispatcher(registry, background=Background(), journal=Journal(on=journal))


def firing(dispatcher: Dispatcher, event: Event = EVENT) -> Action:
    """Fires `event` again and again."""
    fire = dispatcher.fire

    async def action(times: int) -> None:
        for _ in range(times):
            await fire(event)

    return action
