"""`tool:before_execute` (crucible.md 3.9)."""

from typing import Any

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig, returns
from treblehook.engine import Outcome
from treblehook.lifecycle import (
    BeforeExecute,
    Environment,
    ToolCall,
)

CALL = ToolCall("c1", "bash", {"command": "ls"})


def environment(outcome: Outcome[Any]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for contribution in outcome.contributions:
        assert isinstance(contribution.decision, Environment)
        merged |= contribution.decision.variables
    return merged


async def test_case_102_environments_merge_and_the_session_wins(rig: LuaRig) -> None:
    rig.load("plugin", returns("tool:before_execute", '{env = {A = "9", C = "4"}}'))
    rig.load("session", returns("tool:before_execute", '{env = {A = "1"}}') + returns("tool:before_execute", '{env = {A = "2", B = "3"}}'))
    rig.load("session", 'cru.on("tool:before_execute", function() error("boom") end)')
    assert environment(await rig.fire(BeforeExecute(session="s1", call=CALL))) == {"A": "2", "B": "3", "C": "4"}


async def test_case_102_the_tool_runs_with_it_whatever_fails(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, returns("tool:before_execute", '{env = {A = "1"}}') + 'cru.on("tool:before_execute", function() error("x") end)')
    assert (await calls.take("dig")).ran
    assert calls.contexts[0].environment == {"A": "1"}


@pytest.mark.parametrize(
    "env", ["{A = 1}", "{A = {}}", r"{A = '\xff'}", '{["A=B"] = "x"}', r"{A = 'x\0y'}", '{[""] = "x"}', '{"x"}', "5", "true"]
)
async def test_case_103_what_is_no_variable_is_left_out(rig: LuaRig, kind: str, env: str) -> None:
    rig.load(kind, returns("tool:before_execute", f"{{env = {env}}}"))
    assert environment(await rig.fire(BeforeExecute(session="s1", call=CALL))) == {}
    assert len(rig.warnings) == 1


async def test_a_wrong_variable_leaves_the_others(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("tool:before_execute", '{env = {A = 1, B = "2"}}'))
    assert environment(await rig.fire(BeforeExecute(session="s1", call=CALL))) == {"B": "2"}


@pytest.mark.parametrize("value", ["{cancel = true}", '{handled = true, result = "x"}', "{args = {x = 1}}"])
async def test_nothing_else_has_an_effect_before_execution(calls: CallRig, on_calls: LuaRig, kind: str, value: str) -> None:
    on_calls.load(kind, returns("tool:before_execute", value))
    assert (await calls.take("dig", place="beach")).content == "dug {'place': 'beach'}"
