"""`allow` and `ask` before a tool: beside the rules, as in Claude Code, and never past a denial."""

from typing import Any

import pytest

from tests.support.settings_rig import SettingsRig, specific
from treblehook.agent.permissions.rules import Rule, Rules
from treblehook.contracts.claude.settings.wishes import WishedPermission
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


class Protected:
    """A permission that asks about everything, as protection does."""

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        return Verdict("ask", reason="It is protected.")

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        return False


ASKED = Verdict("ask", reason="A hook wants the user asked: may I?")


def says(decision: str, reason: str = "may I?", **more: Any) -> dict[str, Any]:
    return specific("PreToolUse", permissionDecision=decision, permissionDecisionReason=reason, **more)


@pytest.mark.parametrize("answer", [says("allow"), {"decision": "approve"}])
async def test_allow_spares_the_question_that_a_tool_asks_by_itself(rig: SettingsRig, answer: Any) -> None:
    rig.prints("PreToolUse", answer)

    assert await rig.ruled() == Verdict("allow")


async def test_without_a_word_the_tool_asks(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", {})

    assert await rig.ruled() == Verdict("ask")


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (Rules(deny=[Rule("bash(dig*)")]), Verdict("deny", "bash(dig*)")),
        (Rules(ask=[Rule("bash")]), Verdict("ask", "bash")),
        (Rules(allow=[Rule("bash")]), Verdict("allow", "bash")),
    ],
)
async def test_allow_outdoes_no_rule(rig: SettingsRig, rules: Rules, verdict: Verdict) -> None:
    rig.prints("PreToolUse", says("allow"))

    assert await rig.ruled(rules) == verdict


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (Rules(), ASKED),
        (Rules(allow=[Rule("bash")]), Verdict("ask", "bash", ASKED.reason)),
        (Rules(deny=[Rule("bash")]), Verdict("deny", "bash")),
    ],
)
async def test_ask_asks_whatever_is_allowed(rig: SettingsRig, rules: Rules, verdict: Verdict) -> None:
    rig.prints("PreToolUse", says("ask"))

    assert await rig.ruled(rules) == verdict


async def test_of_both_the_question_holds(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"))
    rig.prints("PreToolUse", says("ask"))

    assert await rig.ruled() == ASKED


async def test_what_is_allowed_is_the_new_input(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow", updatedInput={"command": "sift"}))

    assert await rig.ruled() == Verdict("allow")


async def test_an_input_that_another_hook_rewrites_is_not_what_was_allowed(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"))
    await rig.proposed(command="dig")

    assert rig.wishes.of(ToolCall("call_1", "bash", {"command": "dig"})) is not None
    assert rig.wishes.of(ToolCall("call_1", "bash", {"command": "dig deeper"})) is None


async def test_a_wish_is_not_about_a_later_call_of_the_same_id(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"), **{"if": "Bash(dig)"})

    assert await rig.ruled(command="dig") == Verdict("allow")
    assert await rig.ruled(command="burn") == Verdict("ask")


async def test_what_is_protected_is_asked_about(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"))
    await rig.proposed()

    call = ToolCall("call_1", "bash", {"command": "dig"})
    assert WishedPermission(Protected(), rig.wishes).verdict(call, ToolSpec("bash", "", {})) == Verdict("ask", reason="It is protected.")


async def test_a_wish_is_not_kept_once_the_rules_have_been_asked(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", says("allow"))
    await rig.ruled()

    assert rig.wishes.of(ToolCall("call_1", "bash", {"command": "dig"})) is None
