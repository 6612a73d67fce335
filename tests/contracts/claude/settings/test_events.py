"""What each answer does at each event, as Claude Code was seen to honour it, or the nearest that can be done here."""

from typing import Any

import pytest

from tests.support.settings_rig import SettingsRig, context_texts, specific
from treblehook.lifecycle import Allow, Block, CompactionStarting, Continue, Deny, PermissionRequest, Replace, SessionEnd, ToolCall

NO_WORDS: dict[str, Any] = {"systemMessage": "ahoy"}


# PreToolUse


async def test_updated_input_replaces_the_whole_input(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", specific("PreToolUse", updatedInput={"command": "dig deeper", "timeout": 5000, "description": "step"}))

    outcome = await rig.proposed(command="dig", timeout_ms=1)

    assert outcome.value.call.input == {"command": "dig deeper", "timeout_ms": 5000}


async def test_updated_input_of_a_file_tool_is_translated_back(rig: SettingsRig) -> None:
    new = {"file_path": "/x", "old_string": "a", "new_string": "b", "replace_all": False}
    rig.prints("PreToolUse", specific("PreToolUse", permissionDecision="allow", updatedInput=new))

    outcome = await rig.proposed("edit", path="y", old="1", new="2")

    assert outcome.value.call.input == {"path": "/x", "old": "a", "new": "b"}


async def test_what_a_tool_here_does_not_have_stays_for_the_tool_to_refuse(rig: SettingsRig) -> None:
    new = {"file_path": "/x", "old_string": "a", "new_string": "b", "replace_all": True}
    rig.prints("PreToolUse", specific("PreToolUse", updatedInput=new))

    assert (await rig.proposed("edit", path="y", old="1", new="2")).value.call.input["replace_all"] is True


async def test_additional_context_stands_beside_the_result(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", specific("PreToolUse", additionalContext="mind the tide"))
    await rig.proposed()

    first, second = await rig.finished("sand"), await rig.finished("sand")

    assert first.value.content == "sand\n\nPreToolUse:Bash hook additional context: mind the tide"
    assert second.value.content == "sand"


async def test_context_of_a_call_that_never_ran_is_not_told_of_another(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", specific("PreToolUse", additionalContext="mind the tide"), matcher="Bash")
    await rig.proposed()
    await rig.proposed("read", path="map")

    assert (await rig.finished("a map", name="read", path="map")).value.content == "a map"


async def test_additional_context_of_a_denial_is_in_the_reason(rig: SettingsRig) -> None:
    answer = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no", additionalContext="ask Anne")
    rig.prints("PreToolUse", answer)

    assert (await rig.proposed()).decision == Block("no\n\nPreToolUse:Bash hook additional context: ask Anne")


@pytest.mark.parametrize(
    "answer",
    [
        {"continue": False, "stopReason": "tide is in"},
        specific("PreToolUse", permissionDecision="defer", permissionDecisionReason="tide is in"),
    ],
)
async def test_a_run_that_shall_stop_stops_before_the_tool(rig: SettingsRig, answer: Any) -> None:
    rig.prints("PreToolUse", answer)

    assert (await rig.proposed()).decision == Replace("tide is in", is_error=True, terminate=True)


async def test_a_system_message_changes_nothing(rig: SettingsRig) -> None:
    rig.prints("PreToolUse", NO_WORDS)

    assert (await rig.proposed()).decision is None


# PermissionRequest


def request(rig: SettingsRig) -> PermissionRequest:
    return PermissionRequest(call=ToolCall("call_1", "bash", {"command": "dig"}), **rig.facts)


async def test_a_permission_is_granted(rig: SettingsRig) -> None:
    rig.prints("PermissionRequest", specific("PermissionRequest", decision={"behavior": "allow"}))

    assert (await rig.fire(request(rig))).decision == Allow()


async def test_a_permission_is_denied(rig: SettingsRig) -> None:
    rig.prints("PermissionRequest", specific("PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True}))

    assert (await rig.fire(request(rig))).decision == Deny("no")


async def test_another_input_is_not_granted_the_user_is_asked(rig: SettingsRig) -> None:
    decision = {"behavior": "allow", "updatedInput": {"command": "sift"}}
    rig.prints("PermissionRequest", specific("PermissionRequest", decision=decision))

    assert (await rig.fire(request(rig))).decision is None
    [error] = rig.errors()
    assert error.endswith("so the user is asked")


async def test_exit_2_denies_no_permission(rig: SettingsRig) -> None:
    rig.hook("PermissionRequest", "echo no >&2; exit 2")

    assert (await rig.fire(request(rig))).decision is None
    assert rig.errors() == ["exited with status 2, which PermissionRequest does not heed"]


# PostToolUse and PostToolUseFailure


@pytest.mark.parametrize("failed", [False, True])
async def test_after_a_tool_the_output_stays_and_the_reason_follows(rig: SettingsRig, failed: bool) -> None:
    name = "PostToolUseFailure" if failed else "PostToolUse"
    rig.prints(name, {"decision": "block", "reason": "lint it"})
    rig.hook(name, "echo and format it >&2; exit 2")
    rig.prints(name, specific(name, additionalContext="it was dark"))

    outcome = await rig.finished("sand", is_error=failed)

    assert outcome.value.is_error is failed
    assert outcome.value.content.split("\n\n") == [
        "sand",
        f"{name}:Bash hook blocking error: lint it",
        f"{name}:Bash hook blocking error: and format it",
        f"{name}:Bash hook additional context: it was dark",
    ]


async def test_each_hears_only_of_its_own_kind(rig: SettingsRig) -> None:
    rig.records("PostToolUse", "went")
    rig.records("PostToolUseFailure", "failed")

    await rig.finished()
    await rig.finished(is_error=True)

    assert [payload["hook_event_name"] for payload in rig.sent("went")] == ["PostToolUse"]
    assert [payload["hook_event_name"] for payload in rig.sent("failed")] == ["PostToolUseFailure"]


@pytest.mark.parametrize(
    ("tool", "output", "text"),
    [
        ("bash", {"stdout": "a\n", "stderr": "b", "interrupted": False, "isImage": False}, "a\nb"),
        ("bash", {"stdout": "a\n", "stderr": "", "interrupted": False, "isImage": False}, "a\n"),
        ("read", {"type": "text", "file": {"content": "a"}}, "a"),
        ("mcp__sea__ask", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    ],
)
async def test_an_output_of_the_tools_own_shape_replaces(rig: SettingsRig, tool: str, output: Any, text: str) -> None:
    rig.prints("PostToolUse", specific("PostToolUse", updatedToolOutput=output))

    assert (await rig.finished("sand", name=tool, path="x")).value.content == text


@pytest.mark.parametrize("output", ["sand", {"stdout": "a"}, [{"type": "text", "text": "a"}]])
async def test_an_output_of_another_shape_is_ignored(rig: SettingsRig, output: Any) -> None:
    rig.prints("PostToolUse", specific("PostToolUse", updatedToolOutput=output))

    assert (await rig.finished("sand")).value.content == "sand"
    assert rig.errors() == ["its updatedToolOutput does not have the shape of a result of Bash"]


async def test_an_mcp_output_may_be_a_text(rig: SettingsRig) -> None:
    rig.prints("PostToolUse", specific("PostToolUse", updatedMCPToolOutput="a"))

    assert (await rig.finished("sand", name="mcp__sea__ask", text="x")).value.content == "a"
    assert (await rig.finished("sand")).value.content == "sand"


@pytest.mark.parametrize("command", ["echo words", "echo words >&2; exit 1"])
async def test_words_after_a_tool_are_ignored(rig: SettingsRig, command: str) -> None:
    rig.hook("PostToolUse", command)

    assert (await rig.finished("sand")).value.content == "sand"


async def test_a_run_cannot_be_ended_after_a_tool_so_the_model_is_told(rig: SettingsRig) -> None:
    rig.prints("PostToolUse", {"continue": False, "stopReason": "enough"})

    assert (await rig.finished("sand")).value.content == "sand\n\nPostToolUse:Bash hook asks you to stop here: enough"


# UserPromptSubmit


@pytest.mark.parametrize(
    ("answer", "status", "told"),
    [
        ({"decision": "block", "reason": "no"}, 0, "no"),
        ({"continue": False, "stopReason": "no"}, 0, "Operation stopped by hook: no"),
        ("words", 2, "Blocked by hook"),
    ],
)
async def test_a_prompt_is_refused(rig: SettingsRig, answer: Any, status: int, told: str) -> None:
    rig.prints("UserPromptSubmit", answer, status=status)

    assert (await rig.prompted()).decision == Block(told)


@pytest.mark.parametrize("answer", [specific("UserPromptSubmit", additionalContext="ebb at six"), "ebb at six"])
async def test_a_prompt_gets_context(rig: SettingsRig, answer: Any) -> None:
    rig.prints("UserPromptSubmit", answer)

    assert context_texts(await rig.prompted()) == ["ebb at six"]


async def test_a_prompt_cannot_be_rewritten(rig: SettingsRig) -> None:
    rig.prints("UserPromptSubmit", specific("UserPromptSubmit", updatedPrompt="swim"))

    assert (await rig.prompted("dig")).value.prompt == "dig"


async def test_plain_words_of_a_hook_that_failed_are_no_context(rig: SettingsRig) -> None:
    rig.prints("UserPromptSubmit", "ebb at six", status=1)

    assert context_texts(await rig.prompted()) == []


# SessionStart, SubagentStart


@pytest.mark.parametrize("answer", [specific("SessionStart", additionalContext="ebb at six"), "ebb at six"])
async def test_a_session_starts_with_context(rig: SettingsRig, answer: Any) -> None:
    rig.prints("SessionStart", answer)

    assert context_texts(await rig.started()) == ["ebb at six"]


@pytest.mark.parametrize(("answer", "status"), [("", 2), ({"continue": False}, 0), ({"decision": "block", "reason": "no"}, 0)])
async def test_a_session_starts_whatever_a_hook_says(rig: SettingsRig, answer: Any, status: int) -> None:
    rig.prints("SessionStart", answer, status=status)

    outcome = await rig.started()

    assert (outcome.decision, outcome.contributions) == (None, ())


async def test_a_subagent_starts_with_context_of_its_own_event(rig: SettingsRig) -> None:
    rig.spawned = True
    rig.prints("SubagentStart", specific("SubagentStart", additionalContext="dig here"))
    rig.prints("SessionStart", "not for you")

    assert context_texts(await rig.started()) == ["dig here"]


# Stop, SubagentStop


@pytest.mark.parametrize(
    ("answer", "status"),
    [({"decision": "block", "reason": "go on"}, 0), (specific("Stop", additionalContext="go on"), 0)],
)
async def test_a_stop_is_held_up(rig: SettingsRig, answer: Any, status: int) -> None:
    rig.prints("Stop", answer, status=status)

    assert (await rig.ending()).decision == Continue("go on")


async def test_exit_2_holds_up_a_stop(rig: SettingsRig) -> None:
    rig.hook("Stop", "echo go on >&2; exit 2")

    assert (await rig.ending()).decision == Continue("go on")


async def test_continue_false_wins_over_block(rig: SettingsRig) -> None:
    rig.prints("Stop", {"decision": "block", "reason": "go on"})
    rig.prints("Stop", {"continue": False})

    assert (await rig.ending()).decision is None


async def test_a_subagent_has_a_stop_of_its_own(rig: SettingsRig) -> None:
    rig.spawned = True
    rig.prints("Stop", {"decision": "block", "reason": "not you"})
    rig.prints("SubagentStop", {"decision": "block", "reason": "go on"}, matcher="general-purpose")

    assert (await rig.ending()).decision == Continue("go on")


# PreCompact, SessionEnd


@pytest.mark.parametrize(("answer", "status"), [({"decision": "block", "reason": "wait"}, 0), ("", 2)])
async def test_a_compaction_goes_on_and_the_wish_is_kept_as_a_failure(rig: SettingsRig, answer: Any, status: int) -> None:
    rig.prints("PreCompact", answer, status=status)

    await rig.fire(CompactionStarting(reason="manual", tokens=1, **rig.facts))

    [error] = rig.errors()
    assert error.startswith("wants no compaction, which a hook cannot keep from happening here")


async def test_a_session_ends_whatever_a_hook_says(rig: SettingsRig) -> None:
    rig.hook("SessionEnd", "touch ended; exit 2")

    await rig.fire(SessionEnd(reason="closed", **rig.facts))

    assert (rig.workspace / "ended").exists()
