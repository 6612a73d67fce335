"""The list of honoured answers refuses what the agents were seen to drop (HONOURED.md, section 2)."""

from typing import Any

import pytest

from tests.gateway.honoured_codex_gemini import codex_honours, gemini_honours

DENIAL = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "R"}


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "block"},
        {"decision": "block", "reason": " "},
        {"permissionDecision": "deny", "permissionDecisionReason": "R"},
        {"hookSpecificOutput": DENIAL, "suppressOutput": True},
        {"hookSpecificOutput": DENIAL | {"unknown": 1}},
        {"hookSpecificOutput": DENIAL | {"permissionDecision": "ask"}},
        {"hookSpecificOutput": DENIAL | {"permissionDecisionReason": 7}},
        {"hookSpecificOutput": {key: value for key, value in DENIAL.items() if key != "hookEventName"}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"cmd": "ls"}}},
        {"continue": False, "stopReason": "R"},
    ],
)
def test_what_codex_drops_is_not_listed(answer: dict[str, Any]) -> None:
    assert codex_honours("PreToolUse", {"hookSpecificOutput": DENIAL})
    assert not codex_honours("PreToolUse", answer)
    assert not codex_honours("PostToolUse", {"hookSpecificOutput": DENIAL})


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "DENY", "reason": "R"},
        {"decision": "ask", "reason": "R"},
        {"hookSpecificOutput": {"hookEventName": "BeforeTool", "updatedInput": {}}},
        {"hookSpecificOutput": {"hookEventName": "BeforeTool", "additionalContext": "C"}},
    ],
)
def test_what_gemini_ignores_is_not_listed(answer: dict[str, Any]) -> None:
    assert gemini_honours("BeforeTool", {"decision": "deny", "reason": "R"})
    assert not gemini_honours("BeforeTool", answer)
