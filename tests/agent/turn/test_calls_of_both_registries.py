"""Rows 11 to 17 in a whole session, with handlers of the session VM and of the plugin VM: what runs, and what the provider receives."""

import pytest

from tests.support.contract_stubs import lua
from tests.support.nest import Nest, Prompts, bash
from tests.support.rows import Rows
from treblehook.engine import Tier
from treblehook.lifecycle import (
    BeforeExecute,
    Block,
    Deny,
    Environment,
    PermissionRequest,
    PreToolCall,
    Replace,
    Rewrite,
    ToolCall,
    ToolFinished,
)

PLUGIN = Tier.PLUGIN


def result(nest: Nest) -> tuple[str, bool]:
    """What the model got for its call."""
    message = nest.queries[-1].messages[-1]
    assert message.role == "tool"
    return message.text, message.is_error


@pytest.mark.parametrize("vm", [Tier.SESSION, PLUGIN])
async def test_case_076_a_cancelled_call_has_no_result_to_patch(nest: Nest, rows: Rows, vm: Tier) -> None:
    nest.plays(bash("touch here"), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks)
    registry = session.state.dispatcher.registry
    registry.add(lua(PreToolCall, Block("no"), vm=vm))
    registry.add(lua(ToolFinished, Rewrite(content="patched"), vm=PLUGIN))

    await session.prompt("dig")

    assert result(nest) == ("no", True)
    assert rows.of(ToolFinished) == []
    assert not (nest.workspace / "here").exists()


@pytest.mark.parametrize("vm", [Tier.SESSION, PLUGIN])
async def test_case_077_a_handled_call_asks_nobody_for_permission(nest: Nest, rows: Rows, vm: Tier) -> None:
    nest.plays(bash("touch here"), {"text": "Done."})
    prompts = Prompts()
    session = await nest.open(hooks=rows.hooks, approver=prompts)
    session.state.dispatcher.registry.add(lua(PreToolCall, Replace("out"), vm=vm))

    await session.prompt("dig")

    assert result(nest) == ("out", False)
    assert (rows.of(PermissionRequest), prompts.calls, rows.of(BeforeExecute)) == ([], [], [])
    assert not (nest.workspace / "here").exists()


async def test_case_077_a_handled_call_has_a_result_to_patch(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("ls"), {"text": "Done."})
    session = await nest.open(hooks=rows.hooks)
    registry = session.state.dispatcher.registry
    registry.add(lua(PreToolCall, Replace("token=1")))
    registry.add(lua(ToolFinished, lambda event: Rewrite(content=event.content.replace("1", "[REDACTED]")), vm=PLUGIN))

    await session.prompt("dig")

    assert result(nest) == ("token=[REDACTED]", False)


async def test_case_078_permission_is_asked_for_what_would_really_run(nest: Nest, rows: Rows) -> None:
    nest.plays(bash("ls"), {"text": "Done."})
    prompts = Prompts()
    session = await nest.open(hooks=rows.hooks, approver=prompts)
    registry = session.state.dispatcher.registry
    registry.add(lua(PreToolCall, Rewrite(input={"command": "touch one"}), vm=Tier.SESSION))
    registry.add(lua(PreToolCall, lambda event: Rewrite(input={"command": f"{event.call.input['command']} two"}), vm=PLUGIN))

    await session.prompt("dig")

    asked: list[ToolCall] = [rows.only(PermissionRequest).call, *prompts.calls]
    assert [call.input for call in asked] == [{"command": "touch one two"}] * 2
    assert (nest.workspace / "two").exists()


async def test_case_078_a_permission_hook_denies_what_was_made_of_a_call(nest: Nest) -> None:
    nest.plays(bash("ls"), {"text": "Done."})
    session = await nest.open()
    registry = session.state.dispatcher.registry
    registry.add(lua(PreToolCall, Rewrite(input={"command": "touch here"}), vm=PLUGIN))
    registry.add(lua(PermissionRequest, lambda event: Deny("no") if "touch" in event.call.input["command"] else None, name="warden"))

    await session.prompt("dig")

    assert result(nest) == ("Permission denied by warden. no", True)
    assert not (nest.workspace / "here").exists()


async def test_case_102_the_session_vms_environment_wins_and_a_failure_stops_nothing(nest: Nest) -> None:
    nest.plays(bash('echo "$A $B $C"'), {"text": "Done."})
    session = await nest.open()
    registry = session.state.dispatcher.registry
    registry.add(lua(BeforeExecute, Environment({"A": "1"})))
    registry.add(lua(BeforeExecute, Environment({"A": "2", "B": "3"})))
    registry.add(lua(BeforeExecute, ValueError("nil"), vm=PLUGIN))
    registry.add(lua(BeforeExecute, Environment({"A": "9", "C": "4"}), vm=PLUGIN))

    await session.prompt("dig")

    assert result(nest) == ("2 3 4\n", False)
