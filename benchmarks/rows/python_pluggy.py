"""One event through ten Python handlers, beside pluggy calling ten implementations of a hook."""

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._handlers import COUNT, EVENT, dispatcher, firing, functions, handler
from benchmarks.timing import fastest
from treblehook.lifecycle import PreToolCall

LIMIT = Limit(at_most=1)


async def measure() -> list[Line]:
    try:
        import pluggy
    except ImportError:
        raise Missing("pluggy is not installed") from None

    class Spec:
        @pluggy.HookspecMarker("bench")
        def pre_tool_call(self, event: PreToolCall) -> None:
            """Before a tool call."""

    class Plugin:
        @pluggy.HookimplMarker("bench")
        def pre_tool_call(self, event: PreToolCall) -> None:
            return None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for _ in range(COUNT):
        manager.register(Plugin())
    call = manager.hook.pre_tool_call

    async def peer(times: int) -> None:
        for _ in range(times):
            call(event=EVENT)

    ours = firing(dispatcher(*(handler(PreToolCall, function) for function in functions()), journal=True))
    best = await fastest({"ours": ours, "peer": peer})
    return [Line("ten Python handlers, journal on", f"pluggy {pluggy.__version__}", best["ours"], best["peer"], LIMIT)]
