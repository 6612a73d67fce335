"""`tool_result`: patches of what the model sees (crucible.md 3.2)."""

from pathlib import Path

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig, does
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall, ToolFinished
from treblehook.runtimes.lua import LUA_NULL

CALL = ToolCall("c1", "bash", {"command": "ls"})
OUT = ToolFinished(session="s1", call=CALL, content="secret")
FAILED = ToolFinished(session="s1", call=CALL, content="exit 1", is_error=True)


def patch(value: str) -> str:
    return does("tool_result", f"return {value}")


WATCH = 'cru.on("tool_result", {priority = 900}, function(ctx, event) seen(event.result, event.error) end)\n'


async def test_case_081_a_patch_of_the_result(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{result = "x"}') + WATCH)
    value = (await rig.fire(OUT)).value
    assert (value.content, value.is_error) == ("x", False)
    assert rig.seen == [("x",)]


async def test_case_082_a_patch_of_the_error_keeps_the_result(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{error = "bad"}') + WATCH)
    value = (await rig.fire(OUT)).value
    assert (value.content, value.is_error) == ("bad", True)
    assert rig.seen == [("secret", "bad")]


async def test_a_patch_of_both_is_both(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{result = "[gone]", error = "bad"}') + WATCH)
    value = (await rig.fire(OUT)).value
    assert (value.content, value.is_error) == ("bad", True)
    assert rig.seen == [("[gone]", "bad")]


async def test_a_result_beneath_an_error_can_be_patched(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{error = "bad"}') + patch('{result = "[gone]"}') + WATCH)
    value = (await rig.fire(OUT)).value
    assert (value.content, value.is_error) == ("bad", True)
    assert rig.seen == [("[gone]", "bad")]


async def test_case_083_patches_chain_from_the_session_to_the_plugins(rig: LuaRig) -> None:
    append = patch('{result = event.result .. "%s"}')
    rig.load("plugin", append % "P")
    rig.load("session", append % "1" + append % "2")
    assert (await rig.fire(OUT)).value.content == "secret12P"


@pytest.mark.parametrize(
    "value", ["{cancel = true}", '{handled = true, result = "z"}', '{inject = {content = "x"}}', '"text"', "true", "{}"]
)
async def test_case_084_what_is_no_patch_is_ignored_and_later_handlers_run(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, patch(value) + WATCH)
    outcome = await rig.fire(OUT)
    assert (outcome.value, outcome.decision) == (OUT, None)
    assert rig.seen == [("secret",)]


@pytest.mark.parametrize("body", ['error("boom")', "return function() end", r"return {result = '\xff', f = print}", "while true do end"])
async def test_case_085_a_failing_handler_leaves_the_result_and_later_ones_run(rig: LuaRig, kind: str, body: str) -> None:
    rig.load(kind, patch('{result = "one"}') + f'cru.on("tool_result", function() {body} end)\n' + WATCH)
    assert (await rig.fire(OUT)).value.content == "one"
    assert rig.seen == [("one",)]
    assert [line.level for line in rig.lines] == ["error"]
    assert len(rig.errors) == 1


@pytest.mark.parametrize("value", ["{result = 5}", "{result = {}}", "{error = 5}", "{error = false}", r"{result = '\xff'}"])
async def test_case_086_what_is_no_string_is_ignored(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, patch(value))
    assert (await rig.fire(OUT)).value == OUT
    assert len(rig.warnings) == 1


async def test_case_087_a_handled_result_is_patched_too(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, 'cru.on("pre_tool_call", function() return {handled = true, result = "token=1"} end)\n')
    on_calls.load(kind, patch('{result = event.result:gsub("token=%S+", "token=[REDACTED]")}'))
    assert (await calls.take("dig")).content == "token=[REDACTED]"


async def test_case_088_the_arguments_are_those_that_ran(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, 'cru.on("pre_tool_call", function() return {args = {place = "cave"}} end)\n')
    on_calls.load(kind, 'cru.on("tool_result", function(ctx, event) seen(event.tool, event.args.place) end)')
    await calls.take("dig", place="beach")
    assert on_calls.seen == [("dig", "cave")]


async def test_case_089_a_handler_sees_the_whole_result(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    async def work(arguments: object, context: object) -> ToolOutput:
        return ToolOutput("x" * 1_000_000)

    calls.dig.work = work
    on_calls.load(kind, 'cru.on("tool_result", function(ctx, event) seen(#event.result) end)')
    outcome = await calls.take("dig")
    assert on_calls.seen == [(1_000_000,)]
    assert len(outcome.content) < 100_000


async def test_an_empty_result_is_a_result(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{result = ""}') + patch('{error = ""}') + WATCH)
    value = (await rig.fire(OUT)).value
    assert (value.content, value.is_error, value.result) == ("", True, "")


async def test_null_takes_an_error_away(rig: LuaRig, kind: str) -> None:
    rig.vm(kind).lua.provide_value("null", LUA_NULL)
    rig.load(kind, patch('{error = null, result = "fine"}') + WATCH)
    value = (await rig.fire(FAILED)).value
    assert (value.content, value.is_error) == ("fine", False)
    assert rig.seen == [("fine",)]
    assert (await rig.fire(OUT)).value.content == "fine"


async def test_an_error_can_be_reworded(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('{error = event.error .. "!"}') + WATCH)
    value = (await rig.fire(FAILED)).value
    assert (value.content, value.is_error) == ("exit 1!", True)
    assert rig.seen == [("", "exit 1!")]


async def test_a_bare_substitution_patches_nothing(rig: LuaRig, kind: str) -> None:
    rig.load(kind, patch('event.result:gsub("s", "z")'))
    assert (await rig.fire(OUT)).value == OUT
    assert any("has no effect" in text for text in rig.warnings)


async def test_an_echoed_event_is_a_patch(rig: LuaRig, kind: str) -> None:
    rig.load(kind, 'cru.on("tool_result", function(ctx, event) event.result = "x" return event end)')
    assert (await rig.fire(OUT)).value.content == "x"
    assert rig.warnings == []


async def test_a_denied_call_is_not_seen(calls: CallRig, on_calls: LuaRig, kind: str, tmp_path: Path) -> None:
    calls.verdict_of = lambda call: Verdict("deny", "bash(*)")
    on_calls.load(kind, WATCH)
    assert not (await calls.take("dig")).ran
    assert on_calls.seen == []
