"""Row 15: what was approved is what runs, and anything but a clean pass keeps the gate shut."""

import pytest

from tests.support.call_rig import CallRig, Given
from treblehook.engine import BindError, Handler, Mode, OnFailure, Tier
from treblehook.host.tool import ToolInputInvalid
from treblehook.lifecycle import Allow, Block, PreparedCall, PreToolCall, Refuse, Rewrite, ShellGate, ToolGate


async def test_the_very_command_that_was_approved_is_run(rig: CallRig) -> None:
    approved: list[PreparedCall] = []
    rig.on(ShellGate, lambda event: approved.append(event.prepared), tier=Tier.CAPSULE)

    await rig.take("shell", command="ls")

    assert len(rig.shell.prepared) == 1
    assert approved[0] is rig.shell.prepared[0]
    assert rig.shell.ran[0] is approved[0]


async def test_the_gate_sees_the_command_that_hooks_have_made(rig: CallRig) -> None:
    rig.on(PreToolCall, Rewrite(input={"command": "ls -l"}))

    await rig.take("shell", command="rm -r /")

    assert rig.event(ShellGate).prepared.script == "ls -l"
    assert rig.shell.ran[0].script == "ls -l"


async def test_the_refusal_names_the_hook_and_the_reason_and_says_what_happened(rig: CallRig) -> None:
    rig.on(ToolGate, Refuse("no digging after sunset"), name="harbour-master")

    outcome = await rig.take("dig")

    first, _, rest = outcome.content.partition("\n\n")
    assert first == "The policy harbour-master refused this call: no digging after sunset"
    assert "was not run" in rest
    assert "refused again" in rest


async def test_the_first_refusal_stops(rig: CallRig) -> None:
    asked: list[str] = []
    rig.on(ToolGate, lambda event: asked.append("one"), name="one")
    rig.on(ToolGate, Refuse("no"), name="two")
    rig.on(ToolGate, lambda event: asked.append("three"), name="three")

    outcome = await rig.take("dig")

    assert asked == ["one"]
    assert "policy two" in outcome.content


@pytest.mark.parametrize("given", [ValueError("broken"), Block("a block is no answer here"), Allow(), Refuse("  ")])
async def test_anything_but_a_clean_pass_refuses(rig: CallRig, given: Given) -> None:
    rig.on(ToolGate, given, name="harbour", on_failure=OnFailure.OPEN)

    outcome = await rig.take("dig")

    assert "runs" not in rig.log
    assert "policy harbour refused" in outcome.content


async def test_a_gate_is_always_on(rig: CallRig) -> None:
    for mode in (Mode.REPORT, Mode.OFF):
        with pytest.raises(BindError):
            rig.on(ToolGate, Refuse("no"), mode=mode)


@pytest.mark.parametrize("problem", [ToolInputInvalid("no command"), KeyError("command")])
async def test_a_command_that_cannot_be_prepared_is_gated_as_a_tool(rig: CallRig, problem: Exception) -> None:
    rig.on(ToolGate, Refuse("not even that"))
    rig.shell.fails = problem

    refused = await rig.take("shell", other="thing")

    assert "not even that" in refused.content
    assert rig.event(ToolGate).input_json == '{"other":"thing"}'
    assert rig.shell.ran == []


async def test_a_hook_that_is_bound_while_the_call_runs_is_asked_about_it(rig: CallRig) -> None:
    bound: list[Handler] = []

    def bind_a_gate(event: PreToolCall) -> None:
        bound.append(rig.on(ToolGate, Refuse("just in time"), name="late"))

    rig.on(PreToolCall, bind_a_gate)

    outcome = await rig.take("dig")

    assert "just in time" in outcome.content


async def test_the_turn_of_the_request_is_told(rig: CallRig) -> None:
    rig.path.execution.turn = 7

    await rig.take("dig")

    assert rig.event(ToolGate).turn == 7
