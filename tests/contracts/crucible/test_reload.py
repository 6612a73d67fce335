"""Who owns what, and what a reload takes out (crucible.md 2.8, 6.4)."""

import asyncio
from contextlib import suppress

import pytest

from tests.support.crucible_rig import LuaRig
from treblehook.contracts.crucible.caller import Caller
from treblehook.lifecycle import PreToolCall, SessionStart, ToolCall
from treblehook.runtimes.lua import LuaFailed

TOOL = PreToolCall(session="s1", call=ToolCall("c1", "bash", {}))
START = SessionStart(session="s1")
PLUGIN = """
cru.on("pre_tool_call", function() seen("handler") end)
cru.on_session_start(function() seen("start") end)
cru.on_session_end(function() seen("end") end)
"""


def reload(rig: LuaRig, source: str, owner: str = "digest") -> None:
    rig.plugins.clear(owner)
    rig.load("plugin", source, owner=owner)


async def test_case_158_after_two_reloads_everything_is_there_once(rig: LuaRig) -> None:
    rig.load("plugin", PLUGIN)
    for _ in range(2):
        reload(rig, PLUGIN)
    assert len(rig.handlers) == 3
    await rig.fire(TOOL)
    await rig.fire(START)
    assert rig.seen == [("handler",), ("start",)]


@pytest.mark.parametrize("broken", ["this is not Lua", 'error("top level")', PLUGIN + 'error("late")'])
async def test_case_159_a_plugin_that_fails_to_reload_has_nothing_left(rig: LuaRig, broken: str) -> None:
    rig.load("plugin", PLUGIN)
    rig.load("plugin", 'cru.on("pre_tool_call", function() seen("other") end)', owner="other")
    with pytest.raises(LuaFailed):
        reload(rig, broken)
    rig.plugins.clear("digest")
    assert [handler.name for handler in rig.handlers] == ["other"]
    await rig.fire(TOOL)
    assert rig.seen == [("other",)]
    reload(rig, PLUGIN)
    await rig.fire(TOOL)
    assert rig.seen == [("other",), ("other",), ("handler",)]


async def test_case_160_an_unowned_handler_survives_and_keeps_its_function(rig: LuaRig) -> None:
    rig.load("plugin", PLUGIN)
    rig.load(
        "plugin",
        'cru.on("pre_tool_call", function() seen("user") end) cru.on_session_start(function() seen("user start") end)',
        name="init.lua",
    )
    for number in range(3):
        reload(rig, f'cru.on("pre_tool_call", function() seen("{number}") end)')
        rig.seen.clear()
        await rig.fire(TOOL)
        assert rig.seen == [("user",), (str(number),)]
    rig.seen.clear()
    await rig.fire(START)
    assert rig.seen == [("user start",)]


def test_case_161_a_handler_registered_in_setup_is_owned(rig: LuaRig) -> None:
    function = rig.load("plugin", 'return function(cfg) cru.on("pre_tool_call", function() seen(cfg.label) end) end')
    vm = rig.plugins
    with vm.owned_by("digest") as caller:
        vm.lua.run_now(function, {"label": "x"}, about=caller)
    assert [handler.name for handler in vm.registrations.of("digest")] == ["digest"]
    vm.clear("digest")
    assert rig.handlers == []


async def test_a_setup_that_waits_owns_what_it_registers_and_nothing_else(rig: LuaRig) -> None:
    """While it waits other code runs, which owns nothing."""
    vm = rig.plugins
    arrived = asyncio.Event()
    vm.lua.provide_async("wait", arrived.wait)
    setup = rig.load("plugin", 'return function() wait() cru.on("pre_tool_call", function() end) end')
    rig.load("plugin", 'cru.on("tool_result", function() end)', name="init.lua")
    with vm.owned_by("digest") as caller:
        waiting = asyncio.ensure_future(vm.lua.run(setup, about=caller))
        await asyncio.sleep(0)
        other = vm.lua.load(b'cru.on("tool_result", function() end)', "other.lua")
        vm.lua.run_now(other, about=Caller(hook="init.lua"))
        arrived.set()
        await waiting
    assert [handler.origin.event for handler in vm.registrations.of("digest")] == ["pre_tool_call"]
    assert len(vm.registrations.of(None)) == 2


async def test_case_162_what_a_timer_registers_after_the_load_is_unowned(rig: LuaRig) -> None:
    vm = rig.plugins
    ready = asyncio.Event()
    vm.lua.provide_async("wait", ready.wait)
    tasks: list[asyncio.Task[None]] = []
    vm.lua.provide("spawn", lambda function: tasks.append(vm.lua.spawn(function, about=vm.lua.about, failed=lambda error: None)))
    rig.load("plugin", 'spawn(function() wait() cru.on("pre_tool_call", function() seen("late") end) end)')
    ready.set()
    await asyncio.gather(*tasks)
    reload(rig, "")
    (handler,) = rig.handlers
    assert handler.name == "digest"
    await rig.fire(TOOL)
    assert rig.seen == [("late",)]


async def test_what_a_handler_registers_is_unowned(rig: LuaRig) -> None:
    rig.load("plugin", 'cru.on("pre_tool_call", function() cru.on("tool_result", function() end) end)')
    await rig.fire(TOOL)
    rig.plugins.clear("digest")
    assert [(handler.name, handler.origin.event) for handler in rig.handlers] == [("digest", "tool_result")]


def test_the_owner_is_over_on_every_way_out(rig: LuaRig) -> None:
    vm = rig.plugins
    for source in ("error('x')", "not Lua", "return 1"):
        with suppress(LuaFailed):
            rig.load("plugin", source)
        assert vm.caller.owner is None
    with pytest.raises(KeyError), vm.owned_by("digest"):
        raise KeyError
    vm.lua.run_now(vm.lua.load(b'cru.on("tool_result", function() end)', "x.lua"))
    assert vm.registrations.of("digest") == []
    assert len(vm.registrations.of(None)) == 1


def test_who_listens_to_a_clear_is_told_the_owner(rig: LuaRig) -> None:
    told: list[str] = []
    rig.plugins.on_clear(told.append)
    rig.plugins.clear("digest")
    rig.plugins.clear("never loaded")
    assert told == ["digest", "never loaded"]


async def test_a_caller_says_whose_code_is_running(rig: LuaRig) -> None:
    vm = rig.plugins
    callers: list[Caller] = []
    vm.lua.provide("who", lambda: callers.append(vm.caller))
    rig.load("plugin", 'who() cru.on("pre_tool_call", function() who() end) cru.on_session_start(function() who() end)')
    await rig.fire(TOOL)
    await rig.fire(START)
    assert [(c.session, c.owner, c.event, c.hook) for c in callers] == [
        (None, "digest", "load", "digest"),
        ("s1", "digest", "pre_tool_call", "digest"),
        ("s1", "digest", "on_session_start", "digest"),
    ]
    assert [c.loading is not None and c.loading.active for c in callers] == [False, False, False]


async def test_a_thousand_reloads_leave_nothing_behind(rig: LuaRig) -> None:
    for _ in range(1000):
        reload(rig, PLUGIN)
    rig.plugins.clear("digest")
    assert rig.handlers == []
    assert rig.plugins.registrations.of("digest") == []
