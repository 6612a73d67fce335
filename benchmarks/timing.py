"""Timing of alternatives in turns, so that a noisy moment strikes all of them."""

import time
from collections.abc import Awaitable, Callable, Mapping

Action = Callable[[int], Awaitable[object]]
"""Does something so many times."""

BATCH_SECONDS = 0.004


async def fastest(actions: Mapping[str, Action], *, rounds: int = 150) -> dict[str, float]:
    """The seconds that one operation of each action takes at best, over `rounds` batches of each, taken in turns."""
    sizes = {name: await _batch_size(action) for name, action in actions.items()}
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(rounds):
        for name, action in actions.items():
            best[name] = min(best[name], await _seconds(action, sizes[name]) / sizes[name])
    return best


async def _batch_size(action: Action) -> int:
    """How many operations take about `BATCH_SECONDS`."""
    size = 1
    while (seconds := await _seconds(action, size)) < BATCH_SECONDS / 2:
        size *= 4 if seconds < BATCH_SECONDS / 8 else 2
    return size


async def _seconds(action: Action, size: int) -> float:
    began = time.perf_counter()
    await action(size)
    return time.perf_counter() - began
