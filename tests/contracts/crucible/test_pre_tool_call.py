"""`pre_tool_call`: what its returns do to the call, and that it fails closed (crucible.md 3.1, 4.2)."""

from typing import Any

import pytest

from tests.support import crucible_rig
from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig, returns
from treblehook.host.permission import Verdict
from treblehook.runtimes.lua import LUA_NULL


def answers(value: str, label: str = "ran") -> str:
    return returns("pre_tool_call", value, label)


def does(body: str) -> str:
    return crucible_rig.does("pre_tool_call", body)


async def test_case_049_nil_lets_the_call_run_as_it_is(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("nil") + does(""))
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.content) == (True, "dug {'place': 'beach'}")
    assert on_calls.lines == []


async def test_case_050_cancel_reason_reaches_the_model(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{cancel = true, reason = "the tide is in"}'), owner="tides")
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.is_error) == (False, True)
    assert "the tide is in" in outcome.content
    assert "tides" in outcome.content
    assert "runs" not in calls.log
    assert calls.told[0][0] is outcome


@pytest.mark.parametrize(
    ("reason", "told"), [("", "cancelled"), (", reason = {}", "cancelled"), (", reason = true", "cancelled"), (", reason = 7", "7")]
)
async def test_case_051_a_cancel_without_a_usable_reason(calls: CallRig, on_calls: LuaRig, kind: str, reason: str, told: str) -> None:
    on_calls.load(kind, answers(f"{{cancel = true{reason}}}"))
    outcome = await calls.take("dig")
    assert not outcome.ran
    assert outcome.content.endswith(f": {told}")


async def test_case_052_cancel_false_cancels_nothing(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{cancel = false, reason = "x"}'))
    assert (await calls.take("dig")).ran


@pytest.mark.parametrize("flag", ["0", '"false"', "{}", '""', "print"])
async def test_a_flag_is_true_as_lua_has_it_and_told_of(calls: CallRig, on_calls: LuaRig, kind: str, flag: str) -> None:
    on_calls.load(kind, answers(f"{{cancel = {flag}}}"))
    assert not (await calls.take("dig")).ran
    assert any("counts as true" in text for text in on_calls.warnings)


async def test_case_053_a_handled_call_is_not_run(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{handled = true, result = "out"}'))
    outcome = await calls.take("dig")
    assert (outcome.content, outcome.ran, outcome.is_error, outcome.terminate) == ("out", False, False, False)
    assert "runs" not in calls.log


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("{a = 1}", '{"a":1}'),
        ("{1, 2.5, {x = {}}}", '[1,2.5,{"x":{}}]'),
        ("true", "true"),
        ("7", "7"),
        ("7.0", "7.0"),
        ('"a\\nb"', "a\nb"),
        ('""', ""),
        ("{}", "{}"),
    ],
)
async def test_case_054_a_result_that_is_no_string_is_json(calls: CallRig, on_calls: LuaRig, kind: str, result: str, text: str) -> None:
    on_calls.load(kind, answers(f"{{handled = true, result = {result}}}"))
    assert (await calls.take("dig")).content == text


async def test_case_055_handled_without_a_result_is_null(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{handled = true}"))
    outcome = await calls.take("dig")
    assert (outcome.content, outcome.is_error) == ("null", False)


@pytest.mark.parametrize("result", ["print", "{f = print}", r"'\xff'", r"{'\xff'}", "0/0", "cyclic()", "coroutine.create(print)"])
async def test_a_result_that_cannot_be_told_denies(calls: CallRig, on_calls: LuaRig, kind: str, result: str) -> None:
    on_calls.load(kind, "local function cyclic() local t = {} t.t = t return t end\n" + answers(f"{{handled = true, result = {result}}}"))
    outcome = await calls.take("dig")
    assert (outcome.ran, outcome.is_error) == (False, True)
    assert "`result" in outcome.content


async def test_terminate_is_passed_on(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{handled = true, result = 1, terminate = true}"))
    assert (await calls.take("dig")).terminate


async def test_case_056_handled_false_is_a_rewrite(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{handled = false, args = {x = 1}}"))
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.content) == (True, "dug {'x': 1}")


async def test_case_057_arguments_are_replaced_and_not_merged(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{args = {path = "/b"}}'))
    outcome = await calls.take("dig", path="/a", depth=3)
    assert (outcome.content, outcome.call.input, outcome.asked) == ("dug {'path': '/b'}", {"path": "/b"}, {"path": "/a", "depth": 3})


async def test_case_058_arguments_may_become_empty(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{args = {}}"))
    assert (await calls.take("dig", place="beach")).content == "dug {}"


@pytest.mark.parametrize("args", ["{1, 2}", "5", '"x"', "true", "null", r"'\xff'"])
async def test_case_059_what_are_no_arguments_changes_nothing(calls: CallRig, on_calls: LuaRig, kind: str, args: str) -> None:
    on_calls.vm(kind).lua.provide_value("null", LUA_NULL)
    on_calls.load(kind, answers(f"{{args = {args}}}"))
    assert (await calls.take("dig", place="beach")).content == "dug {'place': 'beach'}"
    assert any("`args`" in text for text in on_calls.warnings)


async def test_case_060_two_handlers_each_append(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    append = does('return {args = {place = event.args.place .. "%s"}}')
    on_calls.load(kind, append % " -a" + append % " -l")
    assert (await calls.take("dig", place="ls")).content == "dug {'place': 'ls -a -l'}"


async def test_case_070_inject_has_no_effect_here(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{inject = {content = "x"}}') + answers("nil", "next"))
    assert (await calls.take("dig")).ran
    assert on_calls.seen == [("ran",), ("next",)]
    assert on_calls.warnings == []


@pytest.mark.parametrize(
    "inject", ["{}", "{content = {}}", "{content = true}", r"{content = '\xff'}", "{'x'}", "{content = 'x', f = print}"]
)
async def test_case_071_a_malformed_inject_denies(calls: CallRig, on_calls: LuaRig, kind: str, inject: str) -> None:
    on_calls.load(kind, answers(f"{{inject = {inject}}}"))
    outcome = await calls.take("dig")
    assert not outcome.ran
    assert "inject" in outcome.content


@pytest.mark.parametrize("value", ["true", "false", '"text"', "7", "1.5", r"'\xff'", "''"])
async def test_case_072_a_scalar_changes_nothing(calls: CallRig, on_calls: LuaRig, kind: str, value: str) -> None:
    on_calls.load(kind, answers(value))
    assert (await calls.take("dig", place="beach")).content == "dug {'place': 'beach'}"
    assert any("has no effect" in text for text in on_calls.warnings)


async def test_case_073_handled_goes_before_cancel(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{handled = true, cancel = true, result = "r"}'))
    outcome = await calls.take("dig")
    assert (outcome.content, outcome.is_error) == ("r", False)


async def test_a_cancel_beside_an_inject_cancels(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{inject = {content = "x"}, cancel = true, reason = "tide"}'))
    outcome = await calls.take("dig")
    assert not outcome.ran
    assert "tide" in outcome.content
    assert any("`inject` and `cancel`" in text for text in on_calls.warnings)


@pytest.mark.parametrize("directive", ["cancel = true", 'handled = true, result = "r"'])
async def test_a_directive_drops_the_arguments_beside_it(calls: CallRig, on_calls: LuaRig, kind: str, directive: str) -> None:
    on_calls.load(kind, answers(f"{{{directive}, args = {{x = 1}}}}"))
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.call.input) == (False, {"place": "beach"})


async def test_case_074_a_tool_cannot_be_renamed(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers('{tool = "shell"}'))
    outcome = await calls.take("dig", place="beach")
    assert (outcome.call.name, outcome.content) == ("dig", "dug {'place': 'beach'}")
    assert any("`tool`" in text for text in on_calls.warnings)


async def test_a_misspelt_directive_is_told(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{canceled = true}"))
    assert (await calls.take("dig")).ran
    assert on_calls.warnings == ["pre_tool_call: returned the key `canceled`, which has no effect, did you mean `cancel`?"]


async def test_case_075_the_event_may_be_changed_and_returned(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, does('event.args.place = "cave" event.args.list[1] = "a" return event'))
    outcome = await calls.take("dig", place="beach", list=[], none=None, many=[1, {"x": None}])
    assert outcome.call.input == {"place": "cave", "list": ["a"], "many": [1, {}]}
    assert on_calls.warnings == []


async def test_what_an_echoed_event_directs_does_not_count(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, does("event.cancel = true return event"))
    assert (await calls.take("dig", place="beach")).ran
    assert any("`cancel`" in text for text in on_calls.warnings)


@pytest.mark.parametrize("value", [{"list": []}, {"a": {}}, {"n": 1, "f": 1.0, "b": True, "s": "é"}, {"deep": [[], [{}], [1, [2]]]}])
async def test_arguments_survive_the_way_through_lua(calls: CallRig, on_calls: LuaRig, kind: str, value: dict[str, Any]) -> None:
    on_calls.load(kind, does("return {args = event.args}"))
    outcome = await calls.take("dig", **value)
    assert outcome.call.input == value
    assert {key: type(item) for key, item in outcome.call.input.items()} == {key: type(item) for key, item in value.items()}


async def test_only_the_first_value_is_looked_at(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, does("return nil, {cancel = true}"))
    assert (await calls.take("dig")).ran


async def test_case_076_tool_result_does_not_see_a_cancelled_call(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, answers("{cancel = true}") + 'cru.on("tool_result", function() seen("result") end)')
    await calls.take("dig")
    assert on_calls.seen == [("ran",)]


async def test_case_077_a_handled_call_needs_no_permission(calls: CallRig, on_calls: LuaRig) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load("session", 'cru.permissions.on_request(function() seen("asked") end)')
    for kind in ("session", "plugin"):
        on_calls.load(kind, 'cru.on("tool:before_execute", function() seen("before") end)')
        on_calls.load(kind, 'cru.on("tool_result", function(ctx, event) seen("result", event.result) end)')
    on_calls.load("plugin", answers('{handled = true, result = "out"}', "handles"))
    outcome = await calls.take("dig")
    assert outcome.content == "out"
    assert calls.asked == []
    assert on_calls.seen == [("handles",), ("result", "out"), ("result", "out")]


@pytest.mark.parametrize("answer", ["{cancel = true}", 'error("boom")'])
async def test_a_call_that_a_hook_stopped_is_never_asked_about(calls: CallRig, on_calls: LuaRig, kind: str, answer: str) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load("session", 'cru.permissions.on_request(function() seen("asked") return {allow = true} end)')
    on_calls.load(kind, does(answer if answer.startswith("error") else f"return {answer}"))
    assert not (await calls.take("dig")).ran
    assert on_calls.seen == []


async def test_case_078_permission_is_asked_for_the_rewritten_arguments(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    calls.verdict_of = lambda call: Verdict("ask")
    on_calls.load(kind, answers('{args = {command = "rm -rf /"}}'))
    on_calls.load("session", "cru.permissions.on_request(function(request) seen(request.args.command) end)")
    await calls.take("shell", command="ls")
    assert ("rm -rf /",) in on_calls.seen
    assert [call.input for call in calls.asked] == [{"command": "rm -rf /"}]


async def test_case_079_a_call_that_is_not_offered_reaches_no_handler(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, 'cru.on("pre_tool_call", {priority = -100}, function() seen("ran") return {handled = true, result = "x"} end)')
    outcome = await calls.take("dig", offered=frozenset({"shell"}))
    assert (outcome.is_error, outcome.ran) == (True, False)
    assert on_calls.seen == []


async def test_case_080_a_plugin_that_reloads_meanwhile_denies_nothing(calls: CallRig, on_calls: LuaRig) -> None:
    on_calls.load("plugin", does('error("its function is gone")'), owner="oci")
    on_calls.load("session", does("reload()"))
    on_calls.session.lua.provide("reload", lambda: on_calls.plugins.clear("oci"))
    assert (await calls.take("dig")).ran


async def test_case_080_a_handler_that_is_cleared_while_it_runs_denies_nothing(calls: CallRig, on_calls: LuaRig) -> None:
    on_calls.load("plugin", does('reload() error("late")') + answers("nil", "next"), owner="oci")
    on_calls.plugins.lua.provide("reload", lambda: on_calls.plugins.clear("oci"))
    assert (await calls.take("dig")).ran
