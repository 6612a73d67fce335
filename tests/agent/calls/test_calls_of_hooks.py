"""A tool that a hook calls: rows 12 to 15 and who observes a run, and no row of a model's call (design, section 2)."""

import asyncio
from typing import Any

import pytest

from tests.support.call_rig import CallRig
from treblehook.host.calls import INTERRUPTED
from treblehook.host.permission import Verdict
from treblehook.host.spill import LIMIT
from treblehook.host.tool import ToolContext, ToolOutput
from treblehook.lifecycle import (
    BeforeExecute,
    Deny,
    Display,
    Environment,
    PermissionRequest,
    Refuse,
    ShellGate,
    ToolCall,
    ToolRan,
    ToolStarted,
)

ALL = frozenset({"dig", "shell"})


async def call(rig: CallRig, name: str = "dig", offered: frozenset[str] = ALL, **arguments: Any) -> ToolOutput:
    return await rig.path.call_for_hook(ToolCall("h1", name, arguments), offered)


async def test_a_tool_passes_the_rows_of_a_run_only(rig: CallRig) -> None:
    output = await call(rig, place="palm")

    assert rig.log == ["ToolStarted", "announces", "BeforeExecute", "ToolGate", "runs", "ToolRan", "tells"]
    assert output == ToolOutput("dug {'place': 'palm'}")


async def test_a_command_is_gated_and_observed_as_one(rig: CallRig) -> None:
    output = await call(rig, "shell", command="ls")

    assert rig.log == ["ToolStarted", "announces", "BeforeExecute", "ShellGate", "runs", "ToolRan", "ShellRan", "tells"]
    assert output.content == "out and err"
    assert (rig.path.execution.ran, rig.path.execution.shells) == (1, 1)


async def test_permission_is_asked_for(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("ask")
    rig.on(PermissionRequest, Deny("not you"), name="warden")

    output = await call(rig)

    assert rig.log == ["PermissionRequest", "announces", "tells"]
    assert output == ToolOutput("Permission denied by warden. not you", is_error=True)


async def test_a_rule_that_denies_is_absolute(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("deny", "dig")

    assert "denied by the rule dig" in (await call(rig)).content


async def test_a_gate_is_not_skipped(rig: CallRig) -> None:
    rig.on(ShellGate, Refuse("no commands"), name="policy")

    output = await call(rig, "shell", command="ls")

    assert (output.is_error, rig.shell.ran, "ToolRan" in rig.log) == (True, [], False)
    assert "The policy policy refused this call: no commands" in output.content


async def test_the_environment_of_hooks_is_there(rig: CallRig) -> None:
    rig.on(BeforeExecute, Environment({"DEPTH": "6"}))

    await call(rig)

    assert rig.contexts[0].environment == {"DEPTH": "6"}


@pytest.mark.parametrize(("name", "offered"), [("dig", frozenset({"shell"})), ("plough", frozenset({"plough"}))])
async def test_what_is_not_offered_is_refused_before_any_hook_that_could_allow_it(rig: CallRig, name: str, offered: frozenset[str]) -> None:
    output = await call(rig, name, offered)

    assert output == ToolOutput(f"There is no tool named {name!r} to call here.", is_error=True)
    assert rig.log == ["announces", "ToolRan", "tells"]
    assert rig.event(ToolRan).is_error


async def test_it_is_told_as_the_call_of_a_hook(rig: CallRig) -> None:
    rig.on(ToolStarted, Display(label="Digging"))

    await call(rig, place="palm")

    ((announced, asked, display),) = rig.announced
    ((outcome, _),) = rig.told
    assert (announced.id, asked, display) == ("h1", {"place": "palm"}, Display(label="Digging"))
    assert (outcome.for_hook, outcome.ran, outcome.content) == (True, True, "dug {'place': 'palm'}")


async def test_the_hook_gets_big_output_whole(rig: CallRig) -> None:
    async def much(arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput("x" * (LIMIT * 3))

    rig.dig.work = much

    output = await call(rig)

    assert len(output.content) == LIMIT * 3
    assert len(rig.told[0][0].content) <= LIMIT + 500


async def test_a_stopped_one_is_told_as_over(rig: CallRig) -> None:
    reached = asyncio.Event()

    async def hang(arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        reached.set()
        await asyncio.Event().wait()
        return ToolOutput("never")

    rig.dig.work = hang
    running = asyncio.ensure_future(call(rig))
    await reached.wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [(outcome.content, outcome.for_hook) for outcome, _ in rig.told] == [(INTERRUPTED, True)]
