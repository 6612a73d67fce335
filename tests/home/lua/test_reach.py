"""What Lua reaches of a home: tools, sessions, the next context, its users, isolation (crucible.md 10.2)."""

import asyncio

import pytest

from tests.support.lua_nest import TELL, LuaNest, last_result
from tests.support.nest import Prompts, agent, bash, settled, texts
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import Refuse, ToolGate


def on(event: str, body: str, options: str = "{}") -> str:
    return f"cru.on('{event}', {options}, function(ctx, event) {body} end)\n"


DIG = "return {tools = {{name = 'dig', description = 'digs', run = function() return 'dug' end}}}"


async def test_a_tool_is_called_through_permission_and_gates_and_not_through_pre_tool_call(nest: LuaNest) -> None:
    code = on(
        "pre_llm_call", "local r = cru.tools.call('read', {path = 'map'}) tell(r.ok, r.result:find('X marks') ~= nil, r.error == nil)"
    )
    nest.plugin(code + on("pre_tool_call", "tell('never')") + on("tool:before_execute", "tell('before', event.tool)"))
    (nest.workspace / "map").write_text("X marks the spot")
    session = await nest.open()
    await session.prompt("dig")
    assert nest.told == [["before", "read"], [True, True, True]]
    (call,) = [record for record in nest.stored(session) if record["type"] == "tool_call"]
    assert call["for_hook"] is True
    await session.finish("closed")
    again = await nest.open(resume=session.id)
    assert [message.role for message in again.state.conversation.messages] == ["user", "assistant"]


async def test_a_denied_call_of_a_hook_is_an_answer(nest: LuaNest) -> None:
    nest.plugin(on("pre_llm_call", "local r = cru.tools.call('bash', {command = 'touch dug'}) tell(r.ok, r.result, r.error ~= nil)"))
    prompts = Prompts(answer=False)
    await (await nest.open(approver=prompts)).prompt("dig")
    assert nest.told == [[False, "", True]]
    assert [call.input for call in prompts.calls] == [{"command": "touch dug"}]
    assert not (nest.workspace / "dug").exists()


async def test_a_gate_stands_before_a_call_of_a_hook(nest: LuaNest) -> None:
    hooks = Hooks()
    hooks.on(ToolGate)(lambda event: Refuse("sealed"))
    nest.plugin(on("pre_llm_call", "local r = cru.tools.call('read', {path = 'map'}) tell(r.ok, r.error)"))
    await (await nest.open(hooks=hooks)).prompt("dig")
    ((ok, why),) = nest.told
    assert not ok
    assert "sealed" in why


async def test_a_pre_tool_call_that_calls_the_same_tool_does_not_go_in_circles(nest: LuaNest) -> None:
    code = "tell('asked') local r = cru.tools.call('bash', {command = event.args.command .. ' twice'})"
    nest.plugin(on("pre_tool_call", code + " return {handled = true, result = r.result}", "{pattern = 'bash'}"))
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert nest.told == ["asked"]
    assert last_result(nest).text == "dug twice\n"


@pytest.mark.parametrize(
    "code",
    [
        "return {tools = {{name = 'dig', description = 'd', run = function() tell(cru.tools.call('dig', {}).error or '') return '' end}}}",
        on("tool:before_execute", "tell(cru.tools.call('dig', {}).error or '')") + DIG,
        on("tool:display_start", "tell(cru.tools.call('dig', {}).error or '')") + DIG,
    ],
)
async def test_a_tool_that_is_called_at_each_of_its_calls_comes_to_an_end(nest: LuaNest, code: str) -> None:
    nest.plugin(code)
    nest.plays({"tools": [{"name": "dig", "args": {}}]})
    session = await nest.open()
    end = await session.prompt("dig")
    assert end.status == "finished"
    (refused,) = [told for told in nest.told if "under way" in told]
    assert "64 calls of hooks" in refused
    assert len([record for record in nest.stored(session) if record["type"] == "tool_call"]) < 70


async def test_the_tools_of_a_session_can_be_narrowed(nest: LuaNest) -> None:
    nest.plugin(on("turn:complete", "cru.tools.set_active{'read'} tell(cru.tools.get_active())"))
    nest.plays({"text": "One."}, bash("echo dug"))
    session = await nest.open()
    await session.prompt("one")
    await session.prompt("two")
    assert nest.told[0] == ["read"]
    assert [tool.name for tool in nest.queries[1].tools] == ["read"]
    assert "no tool named 'bash'" in last_result(nest).text


async def test_a_message_to_another_session(nest: LuaNest) -> None:
    code = "for _, s in ipairs(cru.sessions.list()) do if s.id ~= ctx.session_id then cru.sessions.send(s.id, 'ahoy') end end"
    nest.plugin("local once\n" + on("turn:complete", "if once then return end once = true " + code))
    one, two = await nest.open(), await nest.open()
    await one.prompt("dig")
    await settled(two)
    assert texts(nest.queries[-1]) == ["ahoy"]
    assert [record["text"] for record in nest.ears.of("prompt", two.id)] == ["ahoy"]


async def test_a_session_that_writes_to_itself_at_the_end_of_each_turn_can_be_closed(nest: LuaNest) -> None:
    nest.plugin(on("turn:complete", "cru.sessions.send(ctx.session_id, 'again')"))
    session = await nest.open()
    await session.prompt("dig")
    ends: list[object] = []
    settling = asyncio.ensure_future(session.settle(ends.append))
    while len(ends) < 5:
        await asyncio.sleep(0)
    await asyncio.wait_for(session.finish("closed"), 30)
    await asyncio.wait_for(settling, 30)
    assert len(ends) >= 5


async def test_an_attachment_stands_in_one_context(nest: LuaNest) -> None:
    nest.plugin(
        "local once\n" + on("pre_llm_call", "if once then return end once = true tell(cru.context.attach('Low tide.', {key = 'tide'}))")
    )
    session = await nest.open()
    await session.prompt("dig")
    await session.prompt("again")
    firsts = [query.messages[0].text for query in nest.queries]
    assert firsts == ["Low tide.", "dig"]
    assert nest.told == [True]


async def test_an_attachment_over_its_budget_is_refused_and_not_an_error(nest: LuaNest) -> None:
    nest.plugin(on("pre_llm_call", "tell(cru.context.attach(('x'):rep(2001)))"))
    await (await nest.open()).prompt("dig")
    ((ok, why),) = nest.told
    assert not ok
    assert "2000" in why


async def test_a_notification_is_a_row_of_its_session_or_a_problem_of_the_home(nest: LuaNest) -> None:
    nest.plugin("cru.notify('to all', 'warn')\n" + on("pre_llm_call", "cru.notify('to you')"))
    session = await nest.open()
    await session.prompt("dig")
    assert nest.ears.rows() == ["to you"]
    assert [record["text"] for record in nest.stored(session) if record["type"] == "row"] == ["to you"]
    assert any(problem.message == "to all" for problem in nest.home.problems)


async def test_a_tool_that_must_be_isolated_runs_only_where_a_hook_takes_it_over(nest: LuaNest) -> None:
    code = "cru.require_isolation{tools = {'bash'}, reason = 'only in the hold'}\n"
    nest.plugin(code + on("pre_tool_call", "if event.args.command == 'echo held' then return {handled = true, result = 'in the hold'} end"))
    nest.plays(
        bash("echo held", "touch dug"), agent("dig here"), routes=[{"match": "dig here", "turns": [bash("touch dug"), {"text": "Dug."}]}]
    )
    session = await nest.open()
    await session.prompt("dig")
    handled, refused = nest.results(session)[:2]
    assert handled["content"] == "in the hold"
    assert "only in the hold" in refused["content"]
    assert not (nest.workspace / "dug").exists(), "nor by a subagent"


async def test_isolation_holds_for_a_hooks_own_call_and_in_a_bare_session(nest: LuaNest) -> None:
    nest.plugin(
        "cru.require_isolation{tools = {'bash'}}\n" + on("pre_llm_call", "tell(cru.tools.call('bash', {command = 'touch dug'}).ok)")
    )
    nest.plays(bash("touch dug"))
    await (await nest.open()).prompt("dig")
    await (await nest.open(profile="bare")).prompt("dig")
    assert nest.told[0] is False
    assert not (nest.workspace / "dug").exists()


@pytest.mark.parametrize("broken", ["error('no')", "no lua", "while true do end"])
async def test_isolation_stands_while_a_plugin_cannot_be_loaded_again(nest: LuaNest, broken: str) -> None:
    nest.plugin("cru.require_isolation{tools = {'bash'}}\n" + on("pre_tool_call", "return {handled = true, result = 'held'}"))
    nest.plays(bash("touch dug"))
    session = await nest.open()
    nest.plugin(broken)
    assert nest.home.lua.plugins is not None
    with pytest.raises(Exception, match=r"init\.lua"):
        await nest.home.lua.plugins.reload("digest")
    await session.prompt("dig")
    assert "requires isolation" in last_result(nest).text
    nest.plugin("")
    await nest.home.lua.plugins.reload("digest")
    await (await nest.open()).prompt("dig")
    assert (nest.workspace / "dug").exists()


async def test_isolation_of_one_session_ends_with_it(nest: LuaNest) -> None:
    nest.of_workspace("cru.require_isolation{tools = {'bash'}}")
    nest.plays(bash("touch dug"))
    session = await nest.open()
    other = nest.place / "other"
    other.mkdir()
    await session.prompt("dig")
    assert "requires isolation" in last_result(nest).text
    await (await nest.open(workspace=other)).prompt("dig")
    assert (other / "dug").exists()
    await session.finish("closed")
    assert nest.home.isolation.claim_on(session.id, "bash") is None


async def test_a_subscription_hears_a_session(nest: LuaNest) -> None:
    nest.plugin("cru.on_session_start(function(s) cru.sessions.subscribe(s.id, function(record) tell(record.type) end) end)")
    session = await nest.open()
    await session.prompt("dig")
    await asyncio.sleep(0)
    assert [told for told in nest.told if told in ("prompt", "reply")] == ["prompt", "reply"]


async def test_what_a_plugin_stores_is_there_in_the_next_process(nest: LuaNest) -> None:
    nest.plugin("cru.on_session_start(function() local n = (cru.storage.get('n') or 0) + 1 cru.storage.set('n', n) tell(n) end)")
    await nest.open()
    await nest.close()
    nest._home = None
    await nest.open()
    assert nest.told == [1, 2]


async def test_settings_and_paths(nest: LuaNest) -> None:
    nest.settings("[plugins.digest]\nfolder = 'Daily'\n")
    nest.plugin(
        "tell(cru.plugin.config.get('folder'))"
        "cru.on_session_start(function(s) tell(cru.paths.workspace() == s.workspace, cru.paths.state('digest') ~= nil) end)"
    )
    nest.of_workspace(TELL + "")
    await nest.open()
    assert nest.told == ["Daily", [True, True]]
