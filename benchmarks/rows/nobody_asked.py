"""An event without handlers, beside one lookup in a dict."""

from benchmarks.row import Limit, Line
from benchmarks.rows._handlers import EVENT, dispatcher, firing, functions, handler
from benchmarks.timing import fastest
from treblehook.engine import Outcome
from treblehook.lifecycle import Event, ToolFinished

LIMIT = Limit(at_most=2.5)


async def measure() -> list[Line]:
    """The floor is a coroutine that looks up and builds an outcome, which a dispatch has to do in any case."""
    buckets: dict[type[Event], object] = {}

    async def lookup(event: Event) -> Outcome[Event]:
        buckets.get(event.__class__)
        return Outcome(event)

    async def floor(times: int) -> None:
        for _ in range(times):
            await lookup(EVENT)

    (passes,) = functions(1)
    best = await fastest({"ours": firing(dispatcher(handler(ToolFinished, passes), journal=True)), "floor": floor})
    return [Line("an event without handlers", "a coroutine with one lookup", best["ours"], best["floor"], LIMIT)]
