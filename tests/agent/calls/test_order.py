"""Rows 10 to 17 in order, and exactly which of them a call skips that is blocked, denied, refused, replaced or not offered."""

import pytest

from tests.support.call_rig import CallRig
from treblehook.host.permission import Verdict
from treblehook.lifecycle import (
    Allow,
    BeforeExecute,
    Block,
    Decision,
    Deny,
    PermissionRequest,
    PreToolCall,
    Refuse,
    Replace,
    Rewrite,
    ShellGate,
    ShellRan,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
)
from treblehook.lifecycle.tool_events import ComingCall

PROPOSED = ["ToolProposed", "PreToolCall"]
STARTED = ["ToolStarted", "announces", "BeforeExecute"]
SETTLED = ["announces", "tells"]
REPLACED = ["announces", "ToolFinished", "ToolShown", "tells"]


async def test_a_call_passes_every_row(rig: CallRig) -> None:
    outcome = await rig.take("dig", place="palm")

    assert rig.log == [*PROPOSED, *STARTED, "ToolGate", "runs", "ToolFinished", "ToolRan", "ToolShown", "tells"]
    assert (outcome.content, outcome.ran, outcome.is_error) == ("dug {'place': 'palm'}", True, False)


async def test_a_command_is_gated_and_observed_as_one(rig: CallRig) -> None:
    outcome = await rig.take("shell", command="ls")

    assert rig.log == [*PROPOSED, *STARTED, "ShellGate", "runs", "ToolFinished", "ToolRan", "ShellRan", "ToolShown", "tells"]
    assert (outcome.content, outcome.ran) == ("out and err", True)


async def test_a_call_that_the_rules_leave_open_is_asked_about(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("ask", "dig")

    await rig.take("dig")

    assert rig.log[:5] == [*PROPOSED, "PermissionRequest", "approves", "ToolStarted"]


@pytest.mark.parametrize(("event", "asked"), [(ToolProposed, ["ToolProposed"]), (PreToolCall, PROPOSED)])
async def test_a_blocked_call_goes_straight_to_the_models_result(rig: CallRig, event: type[ComingCall], asked: list[str]) -> None:
    rig.on(event, Block("not today"))

    outcome = await rig.take("dig")

    assert rig.log == [*asked, *SETTLED]
    assert (outcome.content, outcome.ran, outcome.is_error, outcome.ms) == ("not today", False, True, 0)


@pytest.mark.parametrize(("event", "asked"), [(ToolProposed, ["ToolProposed"]), (PreToolCall, PROPOSED)])
async def test_a_replaced_call_skips_to_its_result_and_nobody_observes_a_run(
    rig: CallRig, event: type[ComingCall], asked: list[str]
) -> None:
    rig.on(event, Replace("no need to dig"))
    rig.verdict_of = lambda call: Verdict("deny", "dig")

    outcome = await rig.take("dig")

    assert rig.log == [*asked, *REPLACED]
    assert rig.event(ToolFinished).duration_ms == 0
    assert (outcome.content, outcome.ran, outcome.is_error) == ("no need to dig", False, False)


async def test_a_rule_denies_without_asking_anybody(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("deny", "dig(*)")

    outcome = await rig.take("dig")

    assert rig.log == [*PROPOSED, *SETTLED]
    assert "dig(*)" in outcome.content
    assert "did not run" in outcome.content
    assert (outcome.ran, outcome.is_error) == (False, True)


@pytest.mark.parametrize(("said", "log"), [(Deny("not yours"), []), (None, ["approves"])])
async def test_a_denied_permission_goes_straight_to_the_models_result(rig: CallRig, said: Decision | None, log: list[str]) -> None:
    rig.verdict_of = lambda call: Verdict("ask", "dig")
    rig.on(PermissionRequest, said, name="warden")

    async def no(call: ToolCall) -> bool:
        return False

    rig.approves = no

    outcome = await rig.take("dig")

    assert rig.log == [*PROPOSED, "PermissionRequest", *log, *SETTLED]
    assert ("warden. not yours" if said else "Permission was not given, so the tool did not run.") in outcome.content
    assert (outcome.ran, outcome.is_error) == (False, True)


@pytest.mark.parametrize(("tool", "gate"), [("dig", ToolGate), ("shell", ShellGate)])
async def test_a_refused_call_does_not_run_and_nobody_observes_it(rig: CallRig, tool: str, gate: type[ToolGate] | type[ShellGate]) -> None:
    rig.on(gate, Refuse("the policy says no"), name="harbour")

    outcome = await rig.take(tool, command="ls")

    assert rig.log == [*PROPOSED, *STARTED, gate.__name__, "tells"]
    assert (outcome.ran, outcome.is_error) == (False, True)
    assert rig.path.execution.ran == 0


async def test_a_call_that_is_not_offered_is_only_observed_afterwards(rig: CallRig) -> None:
    outcome = await rig.take("dig", offered=frozenset({"shell"}), place="palm")

    assert rig.log == ["announces", "ToolRan", "tells"]
    ran = rig.event(ToolRan)
    assert (ran.is_error, ran.content) == (True, outcome.content)
    assert "'dig'" in outcome.content
    assert (outcome.ran, outcome.is_error) == (False, True)


async def test_a_tool_that_does_not_exist_is_not_offered_either(rig: CallRig) -> None:
    await rig.take("fly", offered=frozenset({"fly"}))

    assert rig.log == ["announces", "ToolRan", "tells"]


async def test_calls_are_counted_where_those_who_observe_are_told_of_them(rig: CallRig) -> None:
    await rig.take("dig")
    await rig.take("shell", command="ls")
    await rig.take("fly")
    blocked = rig.on(PreToolCall, Block("no"))
    await rig.take("dig")
    rig.registry.remove(blocked)
    rig.on(PreToolCall, Replace("no need"))
    await rig.take("shell", command="ls")

    # Also the one that there is no tool for, as the contract counts them (murmur.md 3.5, 4.2).
    assert (rig.path.execution.ran, rig.path.execution.shells) == (3, 1)


async def test_every_row_sees_the_input_as_the_rows_before_it_made_it(rig: CallRig) -> None:
    rig.on(ToolProposed, Rewrite(input={"place": "palm"}))
    rig.on(PreToolCall, lambda event: Rewrite(input={**event.call.input, "deep": True}))
    rig.verdict_of = lambda call: Verdict("ask", "dig")
    rig.on(PermissionRequest, Allow())

    outcome = await rig.take("dig", place="everywhere")

    made = {"place": "palm", "deep": True}
    seen = {type(event): event.call.input for event in rig.events}
    assert seen[ToolProposed] == {"place": "everywhere"}
    assert seen[PreToolCall] == {"place": "palm"}
    for row in (PermissionRequest, ToolStarted, BeforeExecute, ToolGate, ToolFinished, ToolRan, ToolShown):
        assert seen[row] == made
    assert rig.event(ToolGate).input_json == '{"place":"palm","deep":true}'
    assert outcome.content == f"dug {made}"
    assert (outcome.call.input, outcome.asked) == (made, {"place": "everywhere"})
    ((call, asked, _),) = rig.announced
    assert (call.input, asked) == (made, {"place": "everywhere"})


async def test_a_block_after_a_rewrite_shows_the_rewritten_call(rig: CallRig) -> None:
    rig.on(ToolProposed, Rewrite(input={"place": "palm"}))
    rig.on(PreToolCall, Block("not there"))

    outcome = await rig.take("dig", place="everywhere")

    assert outcome.call.input == {"place": "palm"}


async def test_a_patched_result_is_what_later_rows_and_the_model_see(rig: CallRig) -> None:
    rig.on(ToolFinished, Rewrite(content="redacted", is_error=True))

    outcome = await rig.take("shell", command="cat secret")

    assert (outcome.content, outcome.is_error, outcome.ran) == ("redacted", True, True)
    assert rig.event(ToolFinished).content == "out and err"
    for row in (ToolRan, ToolShown):
        assert (rig.event(row).content, rig.event(row).is_error) == ("redacted", True)
    observed = rig.event(ShellRan).outcome
    assert (observed.stdout, observed.stderr, observed.exit_code) == ("redacted", "", 0)


async def test_an_unpatched_command_is_observed_as_it_ran(rig: CallRig) -> None:
    rig.on(ToolFinished, Rewrite(content="out and err"))

    await rig.take("shell", command="ls")

    observed = rig.event(ShellRan)
    assert (observed.outcome.stdout, observed.outcome.stderr, observed.outcome.duration_ms) == ("out", "err", 5)
    assert observed.prepared is rig.shell.ran[0]


async def test_a_result_can_be_mended_so_that_it_is_no_error(rig: CallRig) -> None:
    rig.on(ToolProposed, Replace("broken", is_error=True))
    rig.on(ToolFinished, Rewrite(content="mended", is_error=False))

    outcome = await rig.take("dig")

    assert (outcome.content, outcome.is_error) == ("mended", False)
    assert not rig.event(ToolShown).is_error
