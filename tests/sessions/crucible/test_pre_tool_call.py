"""What becomes of a call, and what the model is told (crucible.md 3.1 and 11 E)."""

import asyncio

import pytest

from tests.support.lua_nest import NAMES, LuaNest, Place, last_result
from tests.support.nest import Prompts, Record, bash
from treblehook.agent.session import Session


def on(body: str, options: str = "{}") -> str:
    return f"cru.on('pre_tool_call', {options}, function(ctx, event) {body} end)\n"


def answers(value: str, options: str = "{}") -> str:
    return on(f"return {value}", options)


async def _dig(nest: LuaNest, *turns: Record) -> Session:
    nest.plays(*(turns or (bash("touch dug && echo dug"),)))
    session = await nest.open()
    end = await session.prompt("dig")
    assert end.status == "finished", end
    return session


def _dug(nest: LuaNest) -> bool:
    return (nest.workspace / "dug").exists()


def _check_stored(nest: LuaNest, session: Session) -> None:
    """What the provider was sent is what the file says."""
    (result,) = [record for record in nest.stored(session) if record["type"] == "tool_result"]
    assert (result["content"], result["is_error"]) == (last_result(nest).text, last_result(nest).is_error)


async def test_case_049_nil_lets_the_call_run_as_it_is(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("nil") + on("") + answers("{}"))
    session = await _dig(nest)
    assert _dug(nest)
    assert last_result(nest).text == "dug\n"
    _check_stored(nest, session)
    ended = [record["ended"] for record in nest.hooks_of(session, "pre_tool_call")]
    assert ended == ["passed"] * 3


async def test_case_050_cancel_reason_reaches_the_model(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{cancel = true, reason = 'the tide is in'}"))
    session = await _dig(nest)
    assert not _dug(nest)
    assert last_result(nest).is_error
    assert last_result(nest).text == f"The call was blocked by {NAMES[where]}: the tide is in"
    _check_stored(nest, session)
    (hook,) = nest.hooks_of(session, "pre_tool_call")
    assert (hook["ended"], hook["hook"], hook["contract"], hook["target"]) == ("answered", NAMES[where], "crucible", "bash")
    assert "the tide is in" in hook["decision"]["reason"]


@pytest.mark.parametrize(("reason", "told"), [("", "cancelled"), (", reason = {}", "cancelled"), (", reason = 7", "7")])
async def test_case_051_a_cancel_without_a_usable_reason(nest: LuaNest, where: Place, reason: str, told: str) -> None:
    nest.put(where, answers(f"{{cancel = true{reason}}}"))
    await _dig(nest)
    assert not _dug(nest)
    assert last_result(nest).text.endswith(f": {told}")


@pytest.mark.parametrize(
    ("case", "value"),
    [
        (52, "{cancel = false, reason = 'x'}"),
        (70, "{inject = {content = 'x'}}"),
        (70, "{inject = 'text'}"),
        (72, "true"),
        (72, "'text'"),
        (72, "7"),
        (74, "{tool = 'read'}"),
        (59, "{args = {1, 2}}"),
        (59, "{args = 'x'}"),
        (59, "{args = cru.json.null}"),
    ],
)
async def test_case_052_059_070_072_074_what_changes_nothing(nest: LuaNest, where: Place, case: int, value: str) -> None:
    nest.put(where, answers(value))
    await _dig(nest)
    assert _dug(nest)
    assert last_result(nest).text == "dug\n"


async def test_case_053_a_handled_call_is_not_run(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{handled = true, result = 'out'}"))
    session = await _dig(nest)
    assert not _dug(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("out", False)
    assert [record["ran"] for record in nest.results(session)] == [False]
    _check_stored(nest, session)


@pytest.mark.parametrize(
    ("result", "text"), [("{a = 1}", '{"a":1}'), ("{1, {}}", "[1,{}]"), ("true", "true"), ("2.5", "2.5"), ("nil", "null"), ("''", "")]
)
async def test_case_054_055_a_result_that_is_no_string_is_json(nest: LuaNest, where: Place, result: str, text: str) -> None:
    nest.put(where, answers(f"{{handled = true, result = {result}}}"))
    await _dig(nest)
    assert last_result(nest).text == text


async def test_case_056_057_arguments_are_replaced_and_not_merged(nest: LuaNest, where: Place) -> None:
    (nest.workspace / "b").write_text("the chest")
    nest.put(where, answers("{handled = false, args = {path = 'b'}}"))
    session = await _dig(nest, {"tools": [{"name": "read", "args": {"path": "a", "limit": 0}}]})
    assert "the chest" in last_result(nest).text
    (call,) = nest.ears.of("tool_call", session.id)
    assert (call["input"], call["asked"]) == ({"path": "b"}, {"path": "a", "limit": 0})
    (asked,) = [message.calls[0] for message in nest.queries[-1].messages if message.calls]
    assert asked.input == {"path": "a", "limit": 0} or asked.input == {"path": "b"}


async def test_case_058_arguments_may_become_empty_and_the_tool_says_what_is_wrong(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{args = {}}"))
    await _dig(nest)
    assert last_result(nest).is_error
    assert "command" in last_result(nest).text


async def test_case_060_two_handlers_each_append(nest: LuaNest, where: Place) -> None:
    nest.put(
        where, on("return {args = {command = event.args.command .. ' -a'}}") + on("return {args = {command = event.args.command .. ' -l'}}")
    )
    await _dig(nest, bash("echo dug"))
    assert last_result(nest).text == "dug -a -l\n"


async def test_case_061_a_rewrite_before_an_error_is_denied_with_neither_arguments(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{args = {command = 'touch other'}}") + on("error('no')"))
    await _dig(nest)
    assert not _dug(nest)
    assert not (nest.workspace / "other").exists()
    assert last_result(nest).is_error


@pytest.mark.parametrize(
    ("case", "body"),
    [
        (62, "error('the map is wet')"),
        (63, "error({code = 7})"),
        (63, "error()"),
        (63, "error(setmetatable({}, {__tostring = function() error('worse') end}))"),
        (63, "error(setmetatable({}, {__tostring = function() return 7 end}))"),
        (63, "error(coroutine.create(function() end))"),
        (64, "return event.nothing.here"),
        (65, "return function() end"),
        (65, "return coroutine.create(function() end)"),
        (65, "return {args = {f = print}}"),
        (65, "local t = {} t.t = t return {args = t}"),
        (65, r"return {args = {command = '\xff'}}"),
        (65, "return {args = {n = 0/0}}"),
        (65, "return {handled = true, result = print}"),
        (69, "while true do end"),
        (69, "return ('x'):rep(1e9)"),
        (71, "return {inject = {}}"),
        (71, "return {inject = {content = {}}}"),
    ],
)
async def test_case_062_to_071_every_failure_denies_and_says_where(nest: LuaNest, where: Place, case: int, body: str) -> None:
    file = nest.put(where, "\n" + on(body) + on("tell('never')"))
    session = await _dig(nest)
    assert not _dug(nest)
    assert last_result(nest).is_error
    assert NAMES[where] in last_result(nest).text
    assert f"{file}:2" in last_result(nest).text
    assert nest.told == [], "nobody is asked after an error"
    _check_stored(nest, session)
    (hook,) = nest.hooks_of(session, "pre_tool_call")
    assert hook["ended"] in ("failed", "timed_out")
    assert f"{file}:2" in hook["error"]


async def test_case_062_the_message_of_an_error_reaches_the_model(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("error('the map is wet')"))
    await _dig(nest)
    assert "the map is wet" in last_result(nest).text


async def test_case_067_an_error_in_the_session_is_not_undone_by_a_plugin(nest: LuaNest) -> None:
    nest.of_workspace(on("error('no')"))
    nest.plugin(on("tell('never') return {handled = true, result = 'fine'}", "{priority = -100}"))
    await _dig(nest)
    assert nest.told == []
    assert last_result(nest).is_error


async def test_case_068_a_failing_handler_of_another_tool_has_no_effect(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("error('no')", "{pattern = 'read'}"))
    await _dig(nest)
    assert _dug(nest)


async def test_case_073_handled_goes_before_cancel(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{handled = true, cancel = true, result = 'r'}"))
    await _dig(nest)
    assert (last_result(nest).text, last_result(nest).is_error) == ("r", False)


async def test_a_cancel_is_never_lost_to_an_inject(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{inject = {content = 'x'}, cancel = true, reason = 'no'}"))
    await _dig(nest)
    assert not _dug(nest)
    assert "no" in last_result(nest).text


async def test_case_075_the_event_may_be_changed_and_returned(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("event.args.command = 'echo gold' event.cancel = true return event"))
    await _dig(nest)
    assert last_result(nest).text == "gold\n"


async def test_case_076_a_cancelled_call_has_no_result_to_patch(nest: LuaNest, where: Place) -> None:
    others = "".join(
        f"cru.on('{name}', function() tell('{name}') end)\n" for name in ("tool_result", "tool:before_execute", "tool:display_start")
    )
    nest.put(where, answers("{cancel = true}") + others)
    await _dig(nest)
    assert nest.told == []


async def test_case_077_a_handled_call_asks_nobody_for_permission(nest: LuaNest) -> None:
    nest.plugin(answers("{handled = true, result = 'out'}") + "cru.on('tool:before_execute', function() tell('never') end)")
    nest.of_workspace("cru.permissions.on_request(function() cru.log('info', 'TOLD [\"never\"]') return {deny = true} end)")
    prompts = Prompts(answer=False)
    nest.plays(bash("touch dug"))
    session = await nest.open(approver=prompts)
    await session.prompt("dig")
    assert (prompts.calls, nest.told, last_result(nest).text) == ([], [], "out")


async def test_case_078_permission_is_asked_for_the_rewritten_arguments(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{args = {command = 'rm -rf chest'}}"))
    seen = "cru.permissions.on_request(function(r) cru.log('info', 'TOLD ' .. cru.json.encode({r.tool_name, r.args.command})) end)"
    if where == "plugin":
        nest.of_workspace(seen)
    else:
        nest.put(where, answers("{args = {command = 'rm -rf chest'}}") + seen)
    prompts = Prompts(answer=False)
    nest.plays(bash("ls"))
    session = await nest.open(approver=prompts)
    await session.prompt("dig")
    assert [call.input for call in prompts.calls] == [{"command": "rm -rf chest"}]
    assert nest.told == [["bash", "rm -rf chest"]]


async def test_case_079_a_call_that_is_not_offered_reaches_no_handler(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("tell('never') return {handled = true, result = 'risen'}", "{priority = -100}"))
    await _dig(nest, {"tools": [{"name": "shovel", "args": {}}]})
    assert nest.told == []
    assert "no tool named 'shovel'" in last_result(nest).text


async def test_case_080_a_plugin_that_reloads_while_its_handler_waits_denies_nothing(nest: LuaNest) -> None:
    code = "cru.on('pre_tool_call', function() tell('waits') cru.timer.sleep(60) return {cancel = true} end)\n"
    nest.plugin(code + on("tell('second of the list')"))
    nest.plugin(on("tell('other')"), "other")
    nest.plays(bash("echo dug"))
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("dig"))
    while nest.told != ["waits"]:
        await asyncio.sleep(0.005)
    nest.plugin(on("tell('anew')"))
    assert nest.home.lua.plugins is not None
    await nest.home.lua.plugins.reload("digest")
    await turn
    assert nest.told == ["waits", "other"]
    assert last_result(nest).text == "dug\n"


async def test_terminate_ends_the_turn_after_the_batch(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{handled = true, result = 'out', terminate = true}") + "cru.on('turn:complete', function() tell('never') end)")
    await _dig(nest, bash("echo a", "echo b"), {"text": "never said"})
    assert len(nest.queries) == 1
    assert [record["content"] for record in nest.results()] == ["out", "out"]
    assert nest.told == []


async def test_terminate_needs_every_result_of_the_batch(nest: LuaNest, where: Place) -> None:
    nest.put(where, answers("{handled = true, result = 'out', terminate = event.args.command == 'echo a'}"))
    await _dig(nest, bash("echo a", "echo b"))
    assert len(nest.queries) == 2
