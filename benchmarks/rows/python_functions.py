"""One event to a Python function through `Hooks.fire`, beside awaiting the function itself; the difference is to stay within 2 µs.

python -m benchmarks.rows.python_functions
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct

from treblehook import Hooks, PreToolCall, ToolCall

ALLOWED_MICROSECONDS: Final = 2.0
_CALLS: Final = 50_000
_ROUNDS: Final = 7
"""The fastest of so many counts: whatever else the machine does only makes a round slower."""


class Row(Struct, frozen=True):
    """What one call costs, in microseconds."""

    bare: float
    fired: float

    @property
    def over(self) -> float:
        """What firing adds."""
        return self.fired - self.bare


async def measure() -> Row:
    """Both ways in turn, in one loop."""
    hooks, event = Hooks(), PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "ls"}))

    @hooks.on(PreToolCall)
    async def passes(event: PreToolCall) -> None:
        pass

    ways: tuple[Callable[[Any], Awaitable[Any]], ...] = (passes, hooks.fire)
    rounds = [[await _one_round(way, event) for way in ways] for _ in range(_ROUNDS)]
    bare, fired = (min(times) for times in zip(*rounds, strict=True))
    return Row(bare, fired)


async def _one_round(way: Callable[[Any], Awaitable[Any]], event: PreToolCall) -> float:
    started = time.perf_counter()
    for _ in range(_CALLS):
        await way(event)
    return (time.perf_counter() - started) / _CALLS * 1e6


if __name__ == "__main__":
    row = asyncio.run(measure())
    print(f"bare {row.bare:.2f} µs, fired {row.fired:.2f} µs, {row.over:.2f} µs over; {ALLOWED_MICROSECONDS:g} µs are allowed")
