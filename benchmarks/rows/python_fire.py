"""One event to one Python function through `Hooks.fire`, beside the function awaited: firing may cost two microseconds."""

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.row import Limit, Line
from benchmarks.timing import Action, fastest
from treblehook import Hooks, PreToolCall, ToolCall

LIMIT = Limit(more=2e-6)


async def measure() -> list[Line]:
    hooks, event = Hooks(), PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))

    @hooks.on(PreToolCall)
    async def passes(event: PreToolCall) -> None:
        pass

    def times(ask: Callable[[Any], Awaitable[object]]) -> Action:
        async def action(count: int) -> None:
            for _ in range(count):
                await ask(event)

        return action

    best = await fastest({"ours": times(hooks.fire), "bare": times(passes)})
    return [Line("one Python function through Hooks.fire", "the function awaited", best["ours"], best["bare"], LIMIT)]
