"""Lua that means harm or knows no better: its own event suffers as the rules say, and everything else goes on."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.lua_nest import IN_SESSION, TELL, LuaNest, Place, last_result
from tests.support.nest import bash, settled, texts
from tests.support.processes import until
from treblehook.agent.models.model import ModelReply
from treblehook.contracts.crucible import asking
from treblehook.home.lua import PluginBroken
from treblehook.lifecycle import ToolCall

HARMFUL = {
    "exit": "os.exit(3)",
    "yield": "coroutine.yield()",
    "deep": "local t = {} local r = t for i = 1, 20000 do t.x = {} t = t.x end return {args = r}",
    "memory": "leak = {} for i = 1, 1e9 do leak[i] = ('x'):rep(1e6) .. i end",
    "no globals": "for k in pairs(_G) do if k ~= 'error' then _G[k] = nil end end error('x')",
    "no library": "string.format, table.concat, coroutine.wrap, tostring, type = nil error({})",
    "close": "local x <close> = setmetatable({}, {__close = function() while true do end end}) error('y')",
    "protected loop": "while true do pcall(function() while true do end end) end",
    "wraps": "local function f() return coroutine.wrap(f)() end f()",
    "stack": "local function f() return f() + 1 end f()",
    "pattern": "string.find(('a'):rep(100000), ('a-'):rep(40) .. 'b')",
    "own coroutine": "coroutine.close(coroutine.running())",
}


@pytest.mark.parametrize("name", HARMFUL)
async def test_harm_denies_its_own_call_and_nothing_else(nest: LuaNest, where: Place, name: str) -> None:
    nest.put(where, "cru.on('pre_tool_call', {pattern = 'bash'}, function(ctx, event) " + HARMFUL[name] + " end)")
    other = "cru.on('turn:complete', function(ctx, event) tell('alive') end)"
    if where == "plugin":
        nest.of_workspace(TELL + other)
    else:
        nest.plugin(other, "other")
    nest.plays(bash("touch dug"))
    session = await nest.open()
    assert (await session.prompt("dig")).status == "finished"
    assert last_result(nest).is_error
    assert not (nest.workspace / "dug").exists()
    assert nest.told == ["alive"]


FILL = """
local big, small = {}, {}
cru.on('pre_llm_call', function()
  pcall(function() for i = 1, 20 do big = {big, ('x'):rep(4000000) .. i} end end)
  pcall(function() for i = 1, 100000 do small = {small} end end)
end)
"""


async def test_a_full_machine_of_the_plugins_can_be_reloaded_and_closed(nest: LuaNest) -> None:
    nest.plugin(FILL + "cru.on('pre_tool_call', function() end) return {on_unload = function() local x = {} end}")
    nest.plays(*[bash("echo dug")] * 8)
    session = await nest.open()
    await session.prompt("dig")
    assert nest.home.lua.plugins is not None
    nest.plugin("cru.on('pre_llm_call', function() tell('anew') end)")
    with suppress(PluginBroken):
        await nest.home.lua.plugins.reload("digest")
    await session.finish("closed")
    await nest.close()
    nest._home = None
    nest.plays()
    await (await nest.open()).prompt("dig")
    assert nest.told[-1] == "anew"


async def test_a_full_machine_of_one_session_is_its_own_business(nest: LuaNest) -> None:
    nest.of_workspace("leak = {} cru.on('pre_llm_call', function() for i = 1, 60 do leak[#leak + 1] = ('x'):rep(1e6) .. i end end)")
    nest.plugin("cru.on('pre_llm_call', function(ctx) tell(ctx.session_id) end)")
    one, two = await nest.open(), await nest.open()
    for session in (one, one, two):
        assert (await session.prompt("dig")).status == "finished"
    assert nest.told == [one.id, one.id, two.id]


async def test_a_handler_that_waits_for_ever_is_cut(nest: LuaNest, where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    nest.put(where, "cru.on('pre_tool_call', function() tell('in') cru.timer.sleep(1e9) tell('never') end)")
    nest.plays(bash("touch dug"))
    session = await nest.open()
    await session.prompt("dig")
    assert nest.told == ["in"]
    assert last_result(nest).is_error
    assert not (nest.workspace / "dug").exists()
    assert [record["ended"] for record in nest.hooks_of(session, "pre_tool_call")] == ["timed_out"]


async def test_a_handler_that_catches_being_cut_is_cut_all_the_same(nest: LuaNest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    nest.plugin("cru.on('turn:complete', function() while true do pcall(cru.timer.sleep, 1e9) end end)")
    session = await nest.open()
    assert (await asyncio.wait_for(session.prompt("dig"), 60)).status == "finished"


@pytest.mark.parametrize("command", ["sleep 600", "trap '' TERM; sleep 600"])
async def test_an_interrupted_turn_ends_the_program_that_a_handler_waits_for(nest: LuaNest, where: Place, command: str) -> None:
    pid = nest.place / "pid"
    shell = f"cru.shell.exec('sh', {{'-c', [[echo $$ > {pid}; {command}; true]]}})"
    nest.put(where, f"cru.on('pre_tool_call', function() tell('in') {shell} tell('never') end)")
    nest.plays(bash("echo dug"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("dig"))
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    await session.interrupt()
    assert (await turn).status == "interrupted"
    await until(lambda: not _alive(int(pid.read_text())))
    assert nest.told == ["in"]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_session_that_is_closed_while_its_handler_waits(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('pre_tool_call', function() tell('in') cru.timer.sleep(600) tell('never') end)")
    nest.plugin("cru.on('pre_llm_call', function() tell('alive') end)", "other")
    nest.plays(bash("echo dug"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("dig"))
    await until(lambda: "in" in nest.told)
    await asyncio.wait_for(session.finish("closed"), 30)
    assert (await turn).status == "interrupted"
    nest.plays()
    assert (await (await nest.open()).prompt("dig")).status == "finished"
    assert nest.told == ["alive", "in", "alive"]


async def test_a_reload_ends_the_program_that_a_handler_waits_for(nest: LuaNest) -> None:
    pid = nest.place / "pid"
    nest.plugin(f"cru.on('pre_tool_call', function() cru.shell.exec('sh', {{'-c', [[echo $$ > {pid}; sleep 600; true]]}}) error('no') end)")
    nest.plays(bash("echo dug"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("dig"))
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    nest.plugin("")
    assert nest.home.lua.plugins is not None
    await nest.home.lua.plugins.reload("digest")
    assert (await asyncio.wait_for(turn, 30)).status == "finished"
    await until(lambda: not _alive(int(pid.read_text())))
    assert last_result(nest).text == "dug\n"


async def test_what_a_session_has_going_on_ends_with_it(nest: LuaNest) -> None:
    pid = nest.place / "pid"
    code = f"cru.timer.spawn(function() cru.shell.exec('sh', {{'-c', [[echo $$ > {pid}; sleep 600; true]]}}) end)"
    nest.of_workspace(TELL + code + "cru.schedule({every = 0.01}, function() tell('tick') end)")
    session = await nest.open()
    await until(lambda: pid.exists() and pid.read_text().endswith("\n") and "tick" in nest.told)
    await session.finish("closed")
    assert not _alive(int(pid.read_text()))
    ticks = len(nest.told)
    await asyncio.sleep(0.1)
    assert len(nest.told) == ticks


async def test_a_home_closes_while_a_plugin_is_busy_for_ever(nest: LuaNest) -> None:
    code = """
    cru.schedule({every = 0.01}, function() cru.timer.sleep(0.5) end)
    return {services = {busy = function() while true do cru.timer.sleep(0.001) end end}, on_unload = function() tell('unload') end}
    """
    nest.plugin(code)
    await nest.open()
    await asyncio.wait_for(nest.close(), 60)
    nest._home = None
    assert nest.told == ["unload"]


async def test_a_thousand_handlers(nest: LuaNest, where: Place) -> None:
    code = """
    n = 0
    for i = 1, 1000 do cru.on('pre_tool_call', {priority = i}, function(ctx, event) n = n + 1 if n == 1000 then tell(n) end end) end
    for i = 1, 1000 do cru.on('pre_tool_call', {pattern = 'other_' .. i}, function() tell('never') end) end
    """
    nest.put(where, code)
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == [1000]
    assert last_result(nest).text == "dug\n"


@pytest.mark.parametrize("text", ["a\0b", "\ud800 lone", "é😀", "\u2028", "x" * 1_000_000])
async def test_any_text_crosses_both_ways(nest: LuaNest, where: Place, text: str) -> None:
    code = "cru.on('pre_tool_call', function(ctx, event) tell(utf8.len(event.args.command) ~= nil) return {args = event.args} end)"
    nest.put(where, code + "cru.on('pre_llm_call', function(ctx, event) return {prompt = event.prompt} end)")
    nest.replies.append(ModelReply("", (ToolCall("c1", "bash", {"command": f": '{text}'"}),), "tools"))
    session = await nest.open()
    end = await session.prompt(f"dig {text}")
    assert end.status == "finished"
    assert nest.told == [True]
    assert texts(nest.queries[0]) == [f"dig {text.replace(chr(0xD800), chr(0xFFFD))}"]


@pytest.mark.parametrize("levels", [20, 90, 110, 400])
async def test_arguments_however_deep_are_passed_on_or_deny(nest: LuaNest, where: Place, levels: int) -> None:
    nest.put(where, "cru.on('pre_tool_call', function(ctx, event) tell('asked') return {args = event.args} end)")
    nest.plugin("return {tools = {{name = 'dig', description = 'd', run = function(args) tell('ran') return 'dug' end}}}", "tools")
    args: object = "x"
    for _ in range(levels):
        args = {"a": args}
    nest.replies.append(ModelReply("", (ToolCall("c1", "dig", {"more": args}),), "tools"))
    session = await nest.open()
    end = await session.prompt("dig")
    assert end.status == "finished"
    assert nest.told in (["asked", "ran"], [], ["asked"])
    assert last_result(nest).is_error == ("ran" not in nest.told)
    assert levels > 90 or "ran" in nest.told


async def test_a_user_file_that_is_no_utf8_or_a_folder_is_told(nest: LuaNest) -> None:
    (nest.folder / "init.lua").write_bytes(b"local s = '\xff\xfe' cru.log('info', 'TOLD ' .. cru.json.encode({#s}))")
    (nest.folder / "plugins" / "odd" / "init.lua").mkdir(parents=True)
    os.symlink("nowhere.lua", nest.place / "link")
    session = await nest.open()
    assert (await session.prompt("dig")).status == "finished"
    assert nest.told == []
    assert any("init.lua" in problem.file and "not UTF-8" in problem.message for problem in nest.home.problems)
    assert any("odd" in str(problem) for problem in nest.home.problems)


async def test_an_init_lua_that_is_a_broken_link_is_told(nest: LuaNest) -> None:
    os.symlink("nowhere.lua", nest.folder / "init.lua")
    session = await nest.open()
    assert (await session.prompt("dig")).status == "finished"
    assert any("init.lua" in problem.file for problem in nest.home.problems)


async def test_a_message_to_its_own_session_from_a_handler_waits_for_the_turn(nest: LuaNest) -> None:
    nest.plugin(
        "local n = 0 cru.on('turn:complete', function(ctx) n = n + 1 if n < 3 then cru.sessions.send(ctx.session_id, 'more ' .. n) end end)"
    )
    session = await nest.open()
    await session.prompt("dig")
    await settled(session)
    assert texts(nest.queries[-1]) == ["dig", "more 1", "more 2"]


async def test_handlers_of_two_sessions_do_not_wait_for_each_other(nest: LuaNest) -> None:
    code = "cru.on('pre_tool_call', function(ctx, event) tell('in') if event.args.command == 'slow' then cru.timer.sleep(600) end end)"
    nest.plugin(code)
    nest.plays(bash("echo quick"), routes=[{"match": "slow", "turns": [bash("slow")]}])
    slow, quick = await nest.open(), await nest.open()
    held = asyncio.ensure_future(slow.prompt("slow"))
    await until(lambda: nest.told == ["in"])
    assert (await quick.prompt("go")).status == "finished"
    await slow.interrupt()
    await held


async def test_globals_of_the_machine_that_code_breaks_stay_in_its_machine(nest: LuaNest) -> None:
    nest.user(IN_SESSION + "cru = nil string = nil error = nil pairs = nil")
    nest.plugin("cru.on('pre_tool_call', function() tell('plugin') end)")
    nest.of_workspace("x.y.z = 1")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == ["plugin"]
    assert any("workspace init.lua" in problem.message for problem in nest.home.problems)
