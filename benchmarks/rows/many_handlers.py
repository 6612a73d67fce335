"""Dispatch with 10, 1,000 and 100,000 bound handlers of which one matches, beside itself at 10."""

from collections.abc import Callable, Iterator

from benchmarks.row import Limit, Line
from benchmarks.rows._handlers import dispatcher, firing, functions, handler
from benchmarks.timing import Action, fastest
from treblehook.engine import Handler
from treblehook.lifecycle import PreToolCall, ToolCall, ToolFinished, ToolStarted

LIMIT = Limit(at_most=1.5)
SIZES = (10, 1_000, 100_000)


def others(size: int, pattern: Callable[[int], str]) -> Iterator[Handler]:
    """`size` handlers, each with a pattern of its own."""
    (passes,) = functions(1)
    return (handler(PreToolCall, passes, pattern=pattern(number)) for number in range(size))


def at_other_events(size: int) -> Iterator[Handler]:
    """`size` handlers without a pattern, all but one at other events."""
    (passes,) = functions(1)
    yield handler(PreToolCall, passes)
    yield from (handler((ToolStarted, ToolFinished)[number % 2], passes) for number in range(size - 1))


KINDS: dict[str, tuple[str, Callable[[int], Iterator[Handler]]]] = {
    "literal patterns": ("tool-7", lambda size: others(size, lambda number: f"tool-{number}")),
    "glob patterns": ("server-7/list", lambda size: others(size, lambda number: f"server-{number}/*")),
    "alternatives": ("b7", lambda size: others(size, lambda number: f"{{a{number},b{number}}}")),
    "other events": ("bash", at_other_events),
}


async def measure() -> list[Line]:
    lines = []
    for kind, (target, bound) in KINDS.items():
        actions: dict[str, Action] = {}
        for size in SIZES:
            event = PreToolCall(call=ToolCall("c1", target, {}))
            fires = dispatcher(*bound(size), journal=True)
            await fires.fire(event)
            assert len(fires.journal.calls) == 1, "one handler matches"
            actions[str(size)] = firing(fires, event)
        best = await fastest(actions)
        few = str(SIZES[0])
        lines += [Line(f"one of {size:,} matches, {kind}", "one of 10", best[str(size)], best[few], LIMIT) for size in SIZES[1:]]
    return lines
