"""What a handler is given (crucible.md 3.0 and 11 D)."""

import asyncio

from tests.support.lua_nest import LuaNest, Place, last_result
from tests.support.nest import bash
from treblehook.lifecycle import NoteModified


async def test_case_042_043_the_event_of_pre_tool_call_is_flat(nest: LuaNest, where: Place) -> None:
    code = """cru.on('pre_tool_call', function(ctx, event)
      tell(event.type, event.tool, event.args.command, event.payload == nil, event.name == nil, event.session_id == nil, ctx.session_id)
      local keys = {} for key in pairs(ctx) do keys[#keys + 1] = key end
      tell(keys)
    end)"""
    nest.put(where, code)
    nest.plays(bash("echo dug"))
    session = await nest.open()
    await session.prompt("dig")
    assert nest.told == [["pre_tool_call", "bash", "echo dug", True, True, True, session.id], ["session_id"]]


async def test_case_044_one_plugin_handler_serves_all_sessions(nest: LuaNest) -> None:
    nest.plugin("cru.on('pre_tool_call', function(ctx) tell(ctx.session_id) end)")
    nest.plays(bash("echo dug"))
    one, two = await nest.open(), await nest.open()
    await one.prompt("dig")
    await two.prompt("dig")
    assert nest.told == [one.id, two.id]


async def test_case_045_a_daemon_event_has_a_context_without_session(nest: LuaNest) -> None:
    nest.plugin("cru.on('note:modified', function(ctx) tell(type(ctx), ctx.session_id == nil, next(ctx) == nil) end)")
    await nest.open()
    nest.home.bus.tell(NoteModified(path="a.md", change="content"))
    await nest.home.bus.drain(30)
    assert nest.told == [["table", True, True]]


async def test_case_046_what_a_handler_changes_in_its_event_changes_nothing(nest: LuaNest, where: Place) -> None:
    code = """
    cru.on('pre_tool_call', function(ctx, event) event.args.command = 'echo changed' event.tool = 'read' ctx.session_id = 'x' end)
    cru.on('pre_tool_call', function(ctx, event) tell(event.args.command, event.tool, ctx.session_id ~= 'x') end)
    """
    nest.put(where, code)
    nest.plays(bash("echo dug"))
    session = await nest.open()
    await session.prompt("dig")
    assert nest.told == [["echo dug", "bash", True]]
    assert last_result(nest).text.strip() == "dug"


async def test_case_047_absent_values_are_nil_and_absent_arguments_a_table(nest: LuaNest, where: Place) -> None:
    code = """
    cru.on('tool_result', function(ctx, event) tell(event.error == nil, type(event.args), next(event.args) == nil) end)
    """
    nest.put(where, code)
    nest.plugin("return {tools = {{name = 'dig', description = 'digs', run = function() return 'dug' end}}}", "tools")
    nest.plays({"tools": [{"name": "dig", "args": {}}]})
    await (await nest.open()).prompt("dig")
    assert nest.told == [[True, "table", True]]


async def test_case_048_type_is_the_events_name_whatever_it_holds(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('pre_tool_call', function(ctx, event) tell(event.type, event.args.type) end)")
    nest.plugin("return {tools = {{name = 'dig', description = 'digs', run = function() return 'dug' end}}}", "tools")
    nest.plays({"tools": [{"name": "dig", "args": {"type": "deep"}}]})
    await (await nest.open()).prompt("dig")
    assert nest.told == [["pre_tool_call", "deep"]]


async def test_two_sessions_interleave_at_waits_in_the_one_plugin_machine(nest: LuaNest) -> None:
    code = """
    local going = {}
    cru.on('pre_tool_call', function(ctx, event)
      going[ctx.session_id] = event.args.command
      tell('in')
      cru.timer.sleep(0.05)
      tell('out', going[ctx.session_id] == event.args.command)
      return {args = {command = event.args.command .. ' for ' .. ctx.session_id}}
    end)
    """
    nest.plugin(code)
    nest.plays(bash("echo dug"))
    sessions = [await nest.open() for _ in range(5)]
    await asyncio.gather(*(session.prompt("dig") for session in sessions))
    assert nest.told == ["in"] * 5 + [["out", True]] * 5
    assert [nest.results(session)[0]["content"].strip() for session in sessions] == [f"dug for {session.id}" for session in sessions]
