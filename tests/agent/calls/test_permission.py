"""Row 12: rules first, then hooks, then whoever answers the prompt that is left; always about the rewritten input."""

from typing import Literal

import pytest

from tests.support.call_rig import CallRig, Given
from treblehook.engine import Tier
from treblehook.host.permission import Verdict
from treblehook.lifecycle import Allow, Ask, Deny, PermissionRequest, PreToolCall, Replace, Rewrite, ToolCall, ToolProposed


def answers(rig: CallRig, word: bool) -> None:
    """What the user says to every prompt."""

    async def approve(call: ToolCall) -> bool:
        return word

    rig.approves = approve


@pytest.mark.parametrize(
    ("verdict", "hook", "user", "runs", "asked"),
    [
        ("allow", Deny("no"), False, True, []),
        ("deny", Allow(), True, False, []),
        ("ask", Allow(), False, True, ["PermissionRequest"]),
        ("ask", Deny("no"), True, False, ["PermissionRequest"]),
        ("ask", Ask(), True, True, ["PermissionRequest", "approves"]),
        ("ask", Ask(), False, False, ["PermissionRequest", "approves"]),
        ("ask", None, True, True, ["PermissionRequest", "approves"]),
        ("ask", None, False, False, ["PermissionRequest", "approves"]),
        ("ask", ValueError("broken"), False, False, ["PermissionRequest", "approves"]),
    ],
)
async def test_who_has_the_word(
    rig: CallRig, verdict: Literal["allow", "ask", "deny"], hook: Given, user: bool, runs: bool, asked: list[str]
) -> None:
    rig.verdict_of = lambda call: Verdict(verdict, "dig")
    rig.on(PermissionRequest, hook)
    answers(rig, user)

    outcome = await rig.take("dig")

    assert [entry for entry in rig.log if entry in ("PermissionRequest", "approves")] == asked
    assert ("runs" in rig.log, outcome.ran) == (runs, runs)


async def test_the_first_hook_that_decides_is_obeyed(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("ask")
    rig.on(PermissionRequest, Allow(), tier=Tier.SESSION)
    rig.on(PermissionRequest, Deny("never"), tier=Tier.PLUGIN)

    assert (await rig.take("dig")).ran


async def test_ask_settles_it_so_that_a_later_hook_cannot_allow(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("ask")
    rig.on(PermissionRequest, Ask(), tier=Tier.SESSION)
    rig.on(PermissionRequest, Allow(), tier=Tier.PLUGIN)
    answers(rig, False)

    assert not (await rig.take("dig")).ran


async def test_rules_hooks_and_prompt_see_the_rewritten_input(rig: CallRig) -> None:
    judged: list[ToolCall] = []

    def verdict(call: ToolCall) -> Verdict:
        judged.append(call)
        return Verdict("ask")

    rig.verdict_of = verdict
    rig.on(ToolProposed, Rewrite(input={"place": "palm"}))
    rig.on(PreToolCall, Rewrite(input={"place": "third palm"}))

    await rig.take("dig", place="grave")

    made = ToolCall("c1", "dig", {"place": "third palm"})
    assert judged == [made]
    assert rig.event(PermissionRequest).call == made
    assert rig.asked == [made]


async def test_a_replaced_call_needs_no_permission(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("deny", "dig")
    rig.on(PreToolCall, Replace("nothing there"))

    assert (await rig.take("dig")).content == "nothing there"


async def test_a_denial_without_a_reason_reads_well(rig: CallRig) -> None:
    rig.verdict_of = lambda call: Verdict("ask")
    rig.on(PermissionRequest, Deny(), name="warden")

    assert (await rig.take("dig")).content == "Permission denied by warden."
