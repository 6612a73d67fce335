"""`pre_tool_call` fails closed, whatever goes wrong (crucible.md 3.0, 3.1)."""

import asyncio
from typing import Any

import pytest

from tests.support import crucible_rig
from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig, returns
from treblehook.contracts.crucible import asking
from treblehook.engine import Ended, HookTimedOut
from treblehook.lifecycle import PreToolCall, ToolCall
from treblehook.runtimes.lua import LuaLimits


def answers(value: str, label: str = "ran") -> str:
    return returns("pre_tool_call", value, label)


def does(body: str) -> str:
    return crucible_rig.does("pre_tool_call", body)


@pytest.mark.parametrize(("first", "second"), [("session", "session"), ("plugin", "plugin"), ("session", "plugin")])
async def test_case_061_a_rewrite_before_an_error_is_denied(calls: CallRig, on_calls: LuaRig, first: str, second: str) -> None:
    on_calls.load(first, answers('{args = {place = "elsewhere"}}'))
    on_calls.load(second, does('error("boom")'), owner="guard")
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.call.input) == (False, {"place": "beach"})
    assert "runs" not in calls.log


async def test_case_062_a_raise_denies_and_says_who_where_and_why(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, '\n\ncru.on("pre_tool_call", function()\n  error("no container")\nend)', owner="oci" if kind == "plugin" else None)
    outcome = await calls.take("dig")
    assert (outcome.ran, outcome.is_error) == (False, True)
    name = "oci" if kind == "plugin" else "workspace init.lua"
    file = on_calls.handlers[-1].origin.file
    assert outcome.content == f"pre_tool_call hook {name} failed: {file}:4: no container"
    assert [(line.level, line.owner, line.file, line.line) for line in on_calls.lines] == [("error", name, file, 3)]


@pytest.mark.parametrize(
    ("error", "told"), [("{code = 5}", "table"), ("nil", "nil"), ("setmetatable({}, {__tostring = function() return 'mine' end})", "mine")]
)
async def test_case_063_an_error_object_of_any_kind_denies(calls: CallRig, on_calls: LuaRig, kind: str, error: str, told: str) -> None:
    on_calls.load(kind, does(f"error({error})"))
    outcome = await calls.take("dig")
    assert not outcome.ran
    assert told in outcome.content
    assert f"{on_calls.handlers[-1].origin.file}:1" in outcome.content


async def test_case_064_a_bug_denies(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, does("return event.nothing.at.all"))
    outcome = await calls.take("dig")
    assert not outcome.ran
    assert "attempt to index a nil value" in outcome.content


@pytest.mark.parametrize(
    "value",
    [
        "function() end",
        "coroutine.create(print)",
        "io and io.stdout or print",
        "{args = {f = print}}",
        "{args = cyclic()}",
        r"{args = {x = '\xff'}}",
        r"{args = {['\xff'] = 1}}",
        "{args = {x = 0/0}}",
        "{args = {x = math.huge}}",
        "{args = {x = 1}, other = print}",
    ],
)
async def test_case_065_what_cannot_be_passed_on_denies(calls: CallRig, on_calls: LuaRig, kind: str, value: str) -> None:
    on_calls.load(kind, "local function cyclic() local t = {} t.t = t return t end\n" + answers(value))
    outcome = await calls.take("dig", place="beach")
    assert (outcome.ran, outcome.is_error) == (False, True)
    assert "runs" not in calls.log


async def test_case_066_after_an_error_nobody_can_allow(calls: CallRig, on_calls: LuaRig) -> None:
    on_calls.load("session", does('error("boom")') + answers('{handled = true, result = "fine"}', "second"))
    on_calls.load("plugin", answers('{handled = true, result = "fine"}', "plugin"))
    assert not (await calls.take("dig")).ran
    assert on_calls.seen == []


async def test_case_067_every_machine_fails_closed(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load("session", answers("nil", "session"))
    on_calls.load("plugin", answers("nil", "plugin"))
    on_calls.load(kind, does('error("boom")'))
    assert (await calls.take("dig")).is_error


async def test_case_068_a_failing_handler_of_another_tool_has_no_effect(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, 'cru.on("pre_tool_call", {pattern = "shell"}, function() error("boom") end)')
    assert (await calls.take("dig")).ran


@pytest.mark.parametrize("body", ["while true do end", 'string.rep("a", 30):find(("a?"):rep(30) .. ("a"):rep(30))'])
async def test_case_069_a_handler_that_computes_without_end_denies(rig: LuaRig, kind: str, body: str) -> None:
    if "find" in body:
        body += " while true do end"
    rig.load(kind, does(body))
    outcome = await rig.fire(PreToolCall(call=ToolCall("c1", "dig", {})))
    assert outcome.blocked is not None
    assert rig.ends == [Ended.TIMED_OUT]
    assert rig.journal.calls[0].problem is not None
    assert issubclass(rig.journal.calls[0].problem, HookTimedOut)
    assert rig.handlers[0].origin.file in outcome.blocked.reason


async def test_case_069_a_handler_that_waits_too_long_denies(rig: LuaRig, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.01)
    rig.vm(kind).lua.provide_async("wait", asyncio.Event().wait)
    rig.load(kind, does("wait()"))
    outcome = await rig.fire(PreToolCall(call=ToolCall("c1", "dig", {})))
    assert outcome.blocked is not None
    assert rig.ends == [Ended.TIMED_OUT]
    # The machine is as good as before.
    assert rig.load(kind, "return 1") == 1


async def test_a_handler_that_wants_too_much_memory_denies(tmp_path: Any, kind: str) -> None:
    rig = LuaRig(tmp_path, limits=LuaLimits(memory_bytes=4 * 1024 * 1024))
    rig.load(kind, does('local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(10000) .. i end'))
    assert (await rig.fire(PreToolCall(call=ToolCall("c1", "dig", {})))).blocked
    rig.close()
