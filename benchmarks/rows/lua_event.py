"""One event to a Lua handler and back, beside the bare library call that converts the same tables and calls the same function."""

from benchmarks.row import Limit, Line, Missing
from benchmarks.timing import fastest
from treblehook.runtimes.lua import LuaVM

LIMIT = Limit(at_most=1.5)
CODE = "return function(ctx, event) if event.tool == 'other' then return { cancel = true } end end"
CTX = {"session_id": "s1"}
EVENT = {"type": "pre_tool_call", "tool": "bash", "args": {"command": "ls -l"}}


async def measure() -> list[Line]:
    try:
        from lupa.lua54 import LuaRuntime
    except ImportError:
        raise Missing("the extra `lua`") from None
    bare = LuaRuntime()
    function = bare.execute(CODE)
    vm = LuaVM("bench", output=print)
    handler = vm.handler(vm.run_now(vm.load(CODE.encode(), "bench.lua"))[0])

    async def ours(times: int) -> None:
        for _ in range(times):
            await handler(CTX, EVENT, about=None)

    async def library(times: int) -> None:
        for _ in range(times):
            function(bare.table_from(CTX), bare.table_from(EVENT, recursive=True))

    best = await fastest({"ours": ours, "library": library})
    vm.close()
    return [Line("one event to a Lua handler and back", "the bare library call with the same tables", best["ours"], best["library"], LIMIT)]
