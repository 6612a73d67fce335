"""Who is asked first, in whole sessions (crucible.md 2.6 and 11 B)."""

from tests.support.lua_nest import IN_SESSION, TELL, LuaNest, Place, last_result
from tests.support.nest import bash


def says(name: str, *, options: str = "{}", event: str = "pre_tool_call") -> str:
    return f"cru.on('{event}', {options}, function() tell('{name}') end)\n"


async def _dig(nest: LuaNest) -> None:
    nest.plays(bash("echo dug"))
    session = await nest.open()
    await session.prompt("dig")


async def test_case_020_021_025_priorities_and_registration(nest: LuaNest, where: Place) -> None:
    code = says("101", options="{priority = 101}") + says("a") + says("b") + says("99", options="{priority = 99}")
    nest.put(where, code + says("zero", options="{priority = 0}") + says("minus", options="{priority = -5}"))
    await _dig(nest)
    assert nest.told == ["minus", "zero", "99", "a", "b", "101"]


async def test_case_022_the_session_comes_first_whatever_the_priority(nest: LuaNest) -> None:
    nest.plugin(says("plugin", options="{priority = 1}"))
    nest.user(IN_SESSION + TELL + says("user", options="{priority = 900}"))
    nest.of_workspace(TELL + says("workspace", options="{priority = 899}"))
    await _dig(nest)
    assert nest.told == ["workspace", "user", "plugin"]


async def test_case_023_a_session_that_settles_a_call_spares_the_plugins(nest: LuaNest) -> None:
    nest.plugin(says("plugin", options="{priority = -1000}"))
    nest.of_workspace("cru.on('pre_tool_call', {priority = 1000}, function() return {cancel = true, reason = 'no'} end)")
    await _dig(nest)
    assert nest.told == []
    assert "no" in last_result(nest).text


async def test_case_024_a_plugin_sees_what_the_session_rewrote(nest: LuaNest) -> None:
    nest.plugin("cru.on('pre_tool_call', function(ctx, event) tell(event.args.command) end)")
    nest.of_workspace("cru.on('pre_tool_call', function(ctx, event) return {args = {command = event.args.command .. ' deep'}} end)")
    await _dig(nest)
    assert nest.told == ["echo dug deep"]
    assert last_result(nest).text.strip() == "dug deep"


async def test_case_026_the_users_file_comes_after_the_plugins(nest: LuaNest) -> None:
    nest.plugin(says("zebra"), "zebra")
    nest.plugin(says("ape"), "ape")
    nest.user(TELL + "local vm = cru.vm cru.on('pre_tool_call', function() tell('user in ' .. vm) end)")
    await _dig(nest)
    assert nest.told == ["user in session", "ape", "zebra", "user in plugin"]


async def test_case_027_the_sessions_files_come_in_their_order(nest: LuaNest) -> None:
    nest.of_workspace(TELL + "tell('workspace', order) " + says("workspace"))
    nest.user(IN_SESSION + TELL + "order = 1 " + says("user"))
    await _dig(nest)
    assert nest.told == [["workspace", 1], "user", "workspace"], "one machine, so the workspace sees the user's globals"


async def test_case_028_a_workspace_reaches_its_own_sessions_only(nest: LuaNest) -> None:
    nest.of_workspace("cru.on('pre_tool_call', function() return {cancel = true, reason = 'not here'} end)")
    elsewhere = nest.place / "elsewhere"
    elsewhere.mkdir()
    nest.plays(bash("echo dug"))
    here, there = await nest.open(), await nest.open(workspace=elsewhere)
    await here.prompt("dig")
    await there.prompt("dig")
    (stopped,), (ran,) = nest.results(here), nest.results(there)
    assert "not here" in stopped["content"]
    assert ran["content"].strip() == "dug"
