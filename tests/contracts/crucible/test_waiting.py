"""Handlers that wait: nobody runs before its turn, and sessions do not hold each other up (crucible.md 3.0)."""

import asyncio

from tests.support.crucible_rig import LuaRig
from treblehook.lifecycle import PreToolCall, ToolCall


def tool(session: str) -> PreToolCall:
    return PreToolCall(session=session, call=ToolCall("c1", "bash", {}))


async def test_handlers_of_one_occurrence_run_one_after_the_other(rig: LuaRig, kind: str) -> None:
    arrived = asyncio.Event()
    rig.vm(kind).lua.provide_async("wait", arrived.wait)
    rig.load(kind, 'cru.on("pre_tool_call", function() wait() seen("first") end) cru.on("pre_tool_call", function() seen("second") end)')
    fired = asyncio.ensure_future(rig.fire(tool("s1")))
    await asyncio.sleep(0)
    assert rig.seen == []
    arrived.set()
    await fired
    assert rig.seen == [("first",), ("second",)]


async def test_two_sessions_take_turns_in_the_plugins_machine(rig: LuaRig) -> None:
    gates = {"s1": asyncio.Event(), "s2": asyncio.Event()}

    async def wait(session: str) -> None:
        await gates[session].wait()

    rig.plugins.lua.provide_async("wait", wait)
    rig.load("plugin", 'cru.on("pre_tool_call", function(ctx) wait(ctx.session_id) seen(ctx.session_id) end)')
    one, two = (asyncio.ensure_future(rig.fire(tool(session))) for session in ("s1", "s2"))
    await asyncio.sleep(0)
    gates["s2"].set()
    await two
    assert rig.seen == [("s2",)]
    gates["s1"].set()
    await one
    assert rig.seen == [("s2",), ("s1",)]


async def test_a_dispatch_that_is_cancelled_leaves_the_machine_usable(rig: LuaRig, kind: str) -> None:
    rig.vm(kind).lua.provide_async("wait", asyncio.Event().wait)
    rig.load(kind, 'cru.on("pre_tool_call", function(ctx) if ctx.session_id == "s1" then wait() end seen(ctx.session_id) end)')
    fired = asyncio.ensure_future(rig.fire(tool("s1")))
    await asyncio.sleep(0)
    fired.cancel()
    await asyncio.gather(fired, return_exceptions=True)
    await rig.fire(tool("s2"))
    assert rig.seen == [("s2",)]


async def test_a_machine_that_closes_meanwhile_denies_nothing_that_is_left(rig: LuaRig) -> None:
    rig.plugins.lua.provide_async("wait", asyncio.Event().wait)
    rig.load("session", 'cru.on("pre_tool_call", function() close() end)')
    rig.session.lua.provide("close", rig.plugins.close)
    rig.load("plugin", 'cru.on("pre_tool_call", function() wait() end)')
    assert (await rig.fire(tool("s1"))).blocked is None
