"""One event through ten Python handlers, beside the same functions awaited in a plain loop."""

from benchmarks.row import Limit, Line
from benchmarks.rows._handlers import EVENT, dispatcher, firing, functions, handler
from benchmarks.timing import Action, fastest
from treblehook.lifecycle import PreToolCall

OFF = Limit(at_most=1.5)
ON = Limit(at_most=4)


async def measure() -> list[Line]:
    asked = functions()

    async def loop(times: int) -> None:
        for _ in range(times):
            for function in asked:
                await function(EVENT)

    def fired(*, journal: bool) -> Action:
        return firing(dispatcher(*(handler(PreToolCall, function) for function in asked), journal=journal))

    best = await fastest({"loop": loop, "off": fired(journal=False), "on": fired(journal=True)})
    what, beside = "ten Python handlers, journal {}", "the same functions in a loop"
    return [
        Line(what.format("off"), beside, best["off"], best["loop"], OFF),
        Line(what.format("on"), beside, best["on"], best["loop"], ON),
    ]
