"""Several hooks at one event: all run, the strictest word holds, and the same hook runs once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.settings_rig import SettingsRig, context_texts, specific
from treblehook.engine import Mode
from treblehook.lifecycle import Allow, Block, Deny, PermissionRequest, Replace, ToolCall


def says(decision: str, reason: str = "") -> dict[str, Any]:
    return specific("PreToolUse", permissionDecision=decision, permissionDecisionReason=reason or decision)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "told"),
    [("deny", "ask", "deny"), ("deny", "allow", "deny"), ("deny", "defer", "deny")],
)
async def test_the_stricter_word_holds_in_either_order(rig: SettingsRig, one: str, other: str, told: str, swapped: bool) -> None:
    for decision in (other, one) if swapped else (one, other):
        rig.prints("PreToolUse", says(decision))

    assert (await rig.proposed()).decision == Block(told)


async def test_a_stop_beats_a_question(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("ask"))
    rig.prints("PreToolUse", {"continue": False, "stopReason": "tide is in"})

    assert (await rig.proposed()).decision == Replace("tide is in", is_error=True, terminate=True)


async def test_denials_are_all_told_and_the_first_is_the_one_that_denied(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"))
    rig.hook("PreToolUse", "echo too deep >&2; exit 2 # ./depth")
    rig.prints("PreToolUse", says("deny", "too late"))

    outcome = await rig.proposed()

    assert outcome.decision == Block("too deep\ntoo late")
    assert outcome.by is not None
    assert outcome.by.name == "echo"


async def test_every_hook_runs_behind_one_that_denies(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "exit 2")
    rig.records("PreToolUse", "log")

    assert (await rig.proposed()).decision == Block("Blocked by hook")
    assert len(rig.sent("log")) == 1


async def test_all_run_at_once(rig: SettingsRig) -> None:
    """Each waits for the other."""
    rig.hook("PreToolUse", "touch one; while [ ! -e two ]; do sleep 0.01; done")
    rig.hook("PreToolUse", "touch two; while [ ! -e one ]; do sleep 0.01; done")

    assert (await rig.proposed()).decision is None
    assert rig.errors() == []


async def test_all_see_the_input_as_it_came_and_the_last_new_one_holds(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", specific("PreToolUse", updatedInput={"command": "first"}))
    rig.prints("PreToolUse", specific("PreToolUse", updatedInput={"command": "second"}))
    rig.records("PreToolUse", "log", **{"if": "Bash(dig *)"})

    assert (await rig.proposed(command="dig here")).value.call.input == {"command": "second"}
    assert [payload["tool_input"] for payload in rig.sent("log")] == [{"command": "dig here"}]


async def test_the_same_command_in_two_groups_runs_once(rig: SettingsRig) -> None:
    rig.records("PreToolUse", "log", matcher="Bash|Read")
    rig.records("PreToolUse", "log", matcher="*")

    await rig.proposed()
    await rig.proposed("glob", pattern="*")

    assert [payload["tool_name"] for payload in rig.sent("log")] == ["Bash", "Glob"]


async def test_contexts_are_those_of_each(rig: SettingsRig) -> None:
    rig.prints("UserPromptSubmit", "one")
    rig.hook("UserPromptSubmit", "exit 1")
    rig.prints("UserPromptSubmit", "two")

    assert context_texts(await rig.prompted()) == ["one", "two"]


async def test_a_denied_permission_beats_a_granted_one(rig: SettingsRig) -> None:
    rig.prints("PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow"}))
    rig.prints("PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "message": "no"}), matcher="Bash")

    def request(tool: str) -> PermissionRequest:
        return PermissionRequest(call=ToolCall("call_1", tool, {}), **rig.facts)

    assert (await rig.fire(request("bash"))).decision == Deny("no")
    assert (await rig.fire(request("write"))).decision == Allow()


def reported(rig: SettingsRig) -> None:
    rig.modes["echo"] = Mode.REPORT


def switched_off(rig: SettingsRig) -> None:
    rig.modes["echo"] = Mode.OFF


@pytest.mark.parametrize(("change", "runs"), [(reported, True), (switched_off, False)])
async def test_a_hook_that_is_not_obeyed(rig: SettingsRig, change: Callable[[SettingsRig], None], runs: bool) -> None:
    rig.hook("PreToolUse", "echo no >&2; touch ran; exit 2")
    rig.prints("PreToolUse", specific("PreToolUse", updatedInput={"command": "sift"}, additionalContext="ebb"))
    change(rig)

    outcome = await rig.proposed()

    assert (outcome.decision, outcome.value.call.input) == (None, {"command": "sift"})
    assert rig.wishes.of(outcome.value.call) is None
    assert (rig.workspace / "ran").exists() is runs
    assert (await rig.finished("sand")).value.content == "sand\n\nPreToolUse:Bash hook additional context: ebb"


async def test_what_a_reported_hook_says_reaches_nobody(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", specific("PreToolUse", permissionDecision="allow", additionalContext="ebb"))
    rig.modes["cat"] = Mode.REPORT

    outcome = await rig.proposed()

    assert rig.wishes.of(outcome.value.call) is None
    assert (await rig.finished("sand")).value.content == "sand"


async def test_events_at_the_same_time_do_not_meet(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "id=$(grep -o 'call_[0-9]*' | head -n 1); echo denied $id >&2; exit 2")

    outcomes = await asyncio.gather(*(asyncio.create_task(rig.proposed(call_id=f"call_{number}")) for number in range(8)))

    assert [outcome.decision for outcome in outcomes] == [Block(f"denied call_{number}") for number in range(8)]


async def test_a_dispatch_that_is_cancelled_ends_its_hooks(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "echo $$ > pid; exec sleep 600")
    asked = asyncio.create_task(rig.proposed())
    while not (rig.workspace / "pid").exists():
        await asyncio.sleep(0.01)

    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_hook_that_does_not_match_is_not_in_the_journal(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "exit 2", matcher="Read")

    await rig.proposed()

    assert rig.calls == []
