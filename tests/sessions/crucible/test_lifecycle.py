"""How sessions begin and end, who is asked for permission, and what a reload leaves (crucible.md 2.8, 6 and 11 K)."""

import asyncio

import pytest

from tests.support.lua_nest import NAMES, TELL, LuaNest, Place, last_result
from tests.support.nest import Prompts, agent, bash
from treblehook.agent.errors import SessionRefused
from treblehook.agent.session import Session

END = "cru.on_session_end(function(session) tell('end', session.id) end)\n"


def start(body: str, options: str = "nil") -> str:
    return f"cru.on_session_start(function(session) {body} end, {options})\n"


async def _ended(nest: LuaNest) -> Session:
    session = await nest.open()
    await session.finish("closed")
    return session


async def _reload(nest: LuaNest, name: str = "digest") -> None:
    assert nest.home.lua.plugins is not None
    await nest.home.lua.plugins.reload(name)


async def test_case_147_start_hooks_run_in_order_and_a_failure_is_logged(nest: LuaNest, where: Place) -> None:
    file = nest.put(where, start("tell('one')") + start("error('no wind')") + start("tell('three')"))
    session = await nest.open()
    assert nest.told == ["one", "three"]
    assert any(f"{file}:2: no wind" in warning for warning in nest.warnings)
    assert (await session.prompt("dig")).status == "finished"


async def test_case_148_150_every_start_hook_runs_and_then_the_session_is_refused(nest: LuaNest) -> None:
    code = start("error('no container')", "{required = true}") + start("error('no rope')", "{required = 1}")
    code += start("error('not required')") + start("tell('still runs', session.id)")
    nest.plugin(code + END)
    with pytest.raises(SessionRefused) as refused:
        await nest.open()
    session = refused.value.session
    assert "no container" in str(refused.value)
    assert "no rope" in str(refused.value)
    assert "; " in str(refused.value)
    assert "not required" not in str(refused.value)
    assert nest.told == [["still runs", session], ["end", session]]
    assert nest.home.sessions.all() == []
    (end,) = nest.ears.of("end")
    assert (end["status"], "no container" in end["reason"]) == ("refused", True)


@pytest.mark.parametrize(
    "body", ["error('no')", "error({})", "local s = ('x'):rep(1e9)", "while true do end", "local t = nil + 1", "return cru.x.y"]
)
async def test_whatever_goes_wrong_in_a_start_hook_is_told_with_its_place(nest: LuaNest, where: Place, body: str) -> None:
    file = nest.put(where, "\n" + start(body))
    session = await nest.open()
    (hook,) = nest.hooks_of(session, "on_session_start")
    assert f"{file}:2: " in hook["error"]
    assert "?" not in hook["error"].replace(str(file), "")


@pytest.mark.parametrize("place", ["user", "workspace"])
async def test_case_149_a_sessions_own_machine_refuses_nothing(nest: LuaNest, place: Place) -> None:
    nest.put(place, start("error('no')", "{required = true}"))
    session = await nest.open()
    assert (await session.prompt("dig")).status == "finished"


async def test_case_149_the_users_required_hook_counts_in_the_plugin_machine(nest: LuaNest) -> None:
    nest.user(start("error('no ' .. cru.vm)", "{required = true}"))
    with pytest.raises(SessionRefused, match="no plugin"):
        await nest.open()


async def test_start_hooks_of_plugins_may_wait_and_those_of_sessions_may_not(nest: LuaNest) -> None:
    body = "cru.timer.sleep(0.01) tell(cru.shell.exec('echo', {'hi'}).stdout)"
    nest.plugin(start(body))
    nest.of_workspace(TELL + start("local ok, why = pcall(cru.timer.sleep, 0.01) tell(ok, type(why))"))
    await nest.open()
    assert nest.told == [[False, "string"], "hi\n"]


async def test_case_151_hooks_start_once_for_each_beginning(nest: LuaNest, where: Place) -> None:
    nest.put(where, start("tell('start', session.id)") + END)
    session = await _ended(nest)
    again = await nest.open(resume=session.id)
    await again.finish("closed")
    assert nest.told == [["start", session.id], ["end", session.id]] * 2


async def test_case_151_subagents_begin_and_end_too(nest: LuaNest, where: Place) -> None:
    nest.put(
        where, start("tell('start', session.id)") + END + "cru.on('pre_llm_call', function(ctx, e) tell(e.prompt, ctx.session_id) end)"
    )
    nest.plays(agent("dig here"), routes=[{"match": "dig here", "turns": [{"text": "Dug."}]}])
    session = await nest.open()
    await session.prompt("go")
    (child,) = [record["id"] for record in nest.ears.of("session") if record["parent"]]
    await session.finish("closed")
    assert [told for told in nest.told if child in told] == [["start", child], ["dig here", child], ["end", child]]
    assert [told for told in nest.told if session.id in told and told[0] in ("start", "end")] == [
        ["start", session.id],
        ["end", session.id],
    ]


async def test_a_required_hook_refuses_a_subagent_too(nest: LuaNest) -> None:
    nest.plugin("local first = true\n" + start("if not first then error('one only') end first = false", "{required = true}"))
    nest.plays(agent("dig here"), routes=[{"match": "dig here", "turns": [{"text": "Dug."}]}])
    await (await nest.open()).prompt("go")
    assert last_result(nest).is_error
    assert "one only" in last_result(nest).text


async def test_case_152_the_session_can_be_read_and_not_changed(nest: LuaNest, where: Place) -> None:
    code = """
    tell(session.id ~= nil, session.workspace)
    local ok, why = pcall(function() session.id = 'x' end)
    tell(ok, why:find('id') ~= nil, why:find('read.only') ~= nil)
    tell((pcall(function() session.other = 'x' end)))
    """
    nest.put(where, start(code))
    await nest.open()
    assert nest.told == [[True, str(nest.workspace)], [False, True, True], False]


async def test_case_153_end_hooks_run_once_however_often_the_end_is_asked_for(nest: LuaNest, where: Place) -> None:
    nest.put(where, END + "cru.on_session_end(function() error('no') end)\n" + END)
    session = await nest.open()
    await asyncio.gather(*(session.close("closed") for _ in range(3)))
    await session.finish("closed")
    assert nest.told == [["end", session.id]] * 2


def asks(body: str) -> str:
    return f"cru.permissions.on_request(function(request) {body} end)\n"


@pytest.mark.parametrize(
    ("case", "body", "prompted", "ran"),
    [
        (154, "return {allow = true}", False, True),
        (154, "return {deny = true}", False, False),
        (154, "return nil", True, False),
        (155, "return {deny = 'because'}", False, False),
        (155, "return {allow = true, deny = true}", False, False),
        (155, "return {}", True, False),
        (155, "return true", True, False),
        (155, "return {allow = false}", True, False),
        (156, "error('no')", True, False),
        (156, "return request.args.x.y", True, False),
        (156, "while true do end", True, False),
        (156, "cru.timer.sleep(0.01) return {allow = true}", True, False),
        (156, "return print", True, False),
    ],
)
@pytest.mark.parametrize("place", ["user", "workspace"])
async def test_case_154_155_156_what_a_permission_hook_settles(
    nest: LuaNest, place: Place, case: int, body: str, prompted: bool, ran: bool
) -> None:
    nest.put(place, asks(body) + "cru.on('tool_result', function() tell('result') end)")
    prompts = Prompts(answer=False)
    nest.plays(bash("touch dug"))
    session = await nest.open(approver=prompts)
    await session.prompt("dig")
    assert bool(prompts.calls) == prompted
    assert (nest.workspace / "dug").exists() == ran
    assert nest.told == (["result"] if ran else [])
    if not ran and not prompted:
        assert "bash" in last_result(nest).text


async def test_case_155_the_fields_of_a_request_and_fresh_tables(nest: LuaNest) -> None:
    tell = "tell(request.tool_name, request.file_path, request.args.path) request.args.path = 'x' request.tool_name = 'y'"
    nest.of_workspace(TELL + asks(tell) + asks(tell))
    nest.plays({"tools": [{"name": "write", "args": {"path": "map.md", "content": "X"}}]})
    await (await nest.open()).prompt("dig")
    assert nest.told == [["write", "map.md", "map.md"]] * 2
    assert (nest.workspace / "map.md").read_text() == "X"


async def test_a_configured_rule_is_not_asked_about(nest: LuaNest) -> None:
    nest.of_workspace(TELL + asks("tell('never') return {allow = true}"))
    nest.settings('[permissions]\ndeny = ["bash(touch *)"]\n')
    nest.plays(bash("touch dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == []
    assert not (nest.workspace / "dug").exists()


async def test_case_157_plugins_have_no_permission_hooks(nest: LuaNest) -> None:
    nest.plugin("tell(cru.permissions == nil)")
    file = nest.user(TELL + "cru.on('pre_tool_call', function() tell('kept', cru.vm) end)\n" + asks("return nil") + "tell('after', cru.vm)")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == [True, ["after", "session"], ["kept", "session"], ["kept", "plugin"]]
    assert any(f"{file}:2" in problem.message for problem in nest.home.problems)


async def test_case_158_160_a_reload_leaves_one_of_each_and_the_users_alone(nest: LuaNest) -> None:
    code = "cru.on('pre_tool_call', function() tell('plugin') end)\n" + start("tell('start')") + END
    nest.plugin(code)
    nest.user("if cru.vm == 'session' then return end " + TELL + "local mine = 'user' cru.on('pre_tool_call', function() tell(mine) end)")
    nest.plays(bash("echo dug"))
    first = await nest.open()
    await _reload(nest)
    await _reload(nest)
    await first.prompt("dig")
    assert nest.told == ["start", "user", "plugin"], "the plugin's handlers come last now"
    session = await nest.open()
    assert nest.told[3:] == ["start"]
    await session.finish("closed")
    assert nest.told[4:] == [["end", session.id]]


@pytest.mark.parametrize(
    "broken", ["this is no lua", "error('no')", "return {setup = function() cru.on('tool_result', print) error('no') end}"]
)
async def test_case_159_a_plugin_that_does_not_load_again_has_nothing_left_and_can_recover(nest: LuaNest, broken: str) -> None:
    code = "cru.on('pre_tool_call', function() tell('plugin') end)\n" + start("error('refused')", "{required = true}")
    nest.plugin("cru.on('pre_tool_call', function() tell('other') end)", "other")
    nest.plugin("cru.on('pre_tool_call', function() tell('plugin') end)\n")
    nest.plays(bash("echo dug"), bash("echo dug"))
    session = await nest.open()
    nest.plugin(code + broken)
    with pytest.raises(Exception, match=r"init\.lua"):
        await _reload(nest)
    await session.prompt("dig")
    assert nest.told == ["other"] * 2
    await nest.open()
    nest.plugin("cru.on('pre_tool_call', function() tell('back') end)\n")
    await _reload(nest)
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told[2:] == ["other", "back"]


async def test_case_161_162_what_setup_registers_belongs_to_the_plugin_and_what_comes_later_to_nobody(nest: LuaNest) -> None:
    nest.settings("[plugins.digest]\nname = 'gull'\n")
    code = """return {setup = function(cfg)
      cru.on('pre_tool_call', function() tell('setup', cfg.name) end)
      cru.timer.spawn(function() cru.on('pre_tool_call', function() tell('late') end) end)
    end}"""
    nest.plugin(code)
    nest.plays(bash("echo dug"))
    session = await nest.open()
    await _reload(nest)
    await asyncio.sleep(0)
    await session.prompt("dig")
    assert nest.told.count(["setup", "gull"]) == 1
    assert nest.told.count("late") == 2, "the documented leak: one for each load"


async def test_case_163_a_disabled_plugin_contributes_nothing_and_cannot_be_reloaded(nest: LuaNest) -> None:
    from treblehook.contracts.crucible.plugins.plugins import PluginDisabled

    nest.settings("[plugins.digest]\nenabled = false\n")
    nest.plugin("tell('never') cru.on('pre_tool_call', function() tell('never') end)")
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == []
    with pytest.raises(PluginDisabled):
        await _reload(nest)


async def test_a_handlers_failure_is_told_by_its_name(nest: LuaNest, where: Place) -> None:
    nest.put(where, "cru.on('turn:complete', function() error('overboard') end)")
    session = await nest.open()
    await session.prompt("dig")
    (hook,) = nest.hooks_of(session, "turn:complete")
    assert (hook["hook"], hook["ended"]) == (NAMES[where], "failed")
    assert "overboard" in hook["error"]
