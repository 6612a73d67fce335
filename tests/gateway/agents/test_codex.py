"""Codex: every capture decodes to what it means."""

from typing import Any

import pytest

from tests.gateway.agents.captured import Captured, event_of
from tests.gateway.honoured_codex_gemini import codex_honours
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.codex import Codex
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    CallComing,
    CallDone,
    Compacting,
    Ending,
    Other,
    PermissionAsked,
    PromptGiven,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

capture = Captured("codex")
CODEC: Codec = Codex()


ECHO = ToolCall("call_0_0", "bash", {"command": "echo treasure"})
RESPONSE_OF_GOAL = {"goal": None, "remainingTokens": None, "completionBudgetReport": None}
WAITED = '{"status":{"uuid_0001":{"completed":"Done."}},"timed_out":false}'
PATCHED = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA mark\n"
WHATS: dict[str, What] = {
    "Interrupt.json": Other(),
    "PostCompact.json": Other(),
    "PostModelRequest.json": Other(),
    "PreModelRequest.json": Other(),
    "SubagentStart.json": Other(),
    "SessionStart.json": Starting("start"),
    "UserPromptSubmit.json": PromptGiven("Do the thing."),
    "PreToolUse.json": CallComing(ECHO, "Bash", {"command": "echo treasure"}),
    "PostToolUse.json": CallDone(ECHO, "Bash", ToolOutput("treasure\n"), "treasure\n"),
    "PreCompact.json": Compacting("manual"),
    "Stop.json": Stopping("Found it.", again=False),
    "SubagentStop.json": SubagentDone("Sub done.", again=False),
    "SessionEnd.json": Ending(),
    "by-tool/PostToolUse.Bash.json": CallDone(ToolCall("call_0_0", "bash", {"command": "echo a"}), "Bash", ToolOutput("a\n"), "a\n"),
    "by-tool/PostToolUse.apply_patch.json": CallDone(
        ToolCall("call_0_0", "write", {"path": "mark", "content": "hello\n"}), "apply_patch", ToolOutput(PATCHED), PATCHED
    ),
    "by-tool/PostToolUse.get_goal.json": CallDone(
        ToolCall("call_2_0", "get_goal", {}),
        "get_goal",
        ToolOutput('{"goal":null,"remainingTokens":null,"completionBudgetReport":null}'),
        RESPONSE_OF_GOAL,
    ),
    "by-tool/PostToolUse.mcp__tiny__echo.json": CallDone(
        ToolCall("call_0_0", "mcp__tiny__echo", {"text": "hi"}),
        "mcp__tiny__echo",
        ToolOutput("echo: hi"),
        {"content": [{"type": "text", "text": "echo: hi"}]},
    ),
    "by-tool/PostToolUse.multi_agent_v1wait_agent.json": CallDone(
        ToolCall("call_1_0", "multi_agent_v1wait_agent", {"targets": ["uuid_0001"], "timeout_ms": 15000}),
        "multi_agent_v1wait_agent",
        ToolOutput(WAITED),
        WAITED,
    ),
    "by-tool/PostToolUse.spawn_agent.json": CallDone(
        ToolCall("call_0_0", "agent", {"task": "SUBTASK dig here"}),
        "spawn_agent",
        ToolOutput('{"agent_id":"uuid_0001","nickname":"Mill"}'),
        '{"agent_id":"uuid_0001","nickname":"Mill"}',
    ),
}


def test_it_is_the_codec_of_codex() -> None:
    codec = codec_of("codex")
    assert codec.name == "codex"
    assert isinstance(codec, Codex)


@pytest.mark.parametrize("name", [name for name in capture.names if name != "PermissionRequest.json"])
def test_every_capture_decodes(name: str) -> None:
    arrived = CODEC.decode(event_of(name), capture(name))
    assert arrived.what == WHATS[name]
    assert (arrived.session, arrived.workspace) == ("sess_0001", "/home/dev/project")
    assert arrived.subagent == ("agent_0001" if event_of(name).startswith("Subagent") else "")
    assert CODEC.decode("", capture(name)) == arrived


def test_an_image_is_read() -> None:
    payload = capture("PreToolUse.json") | {"tool_name": "view_image", "tool_input": {"path": "x.png"}}
    assert CODEC.decode("PreToolUse", payload).what == CallComing(
        ToolCall("call_0_0", "read", {"path": "x.png"}), "view_image", {"path": "x.png"}
    )


def test_a_permission_request_has_no_id_and_gets_one() -> None:
    what = CODEC.decode("PermissionRequest", capture("PermissionRequest.json")).what
    assert isinstance(what, PermissionAsked)
    assert (what.call.name, what.tool) == ("bash", "Bash")
    assert what.call.input == {"command": "echo treasure > /home/dev/other/esc; touch mark", "description": "need it"}
    assert what.call.id
    assert CODEC.decode("PermissionRequest", capture("PermissionRequest.json")).what == what


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("startup", "start"),
        ("clear", "start"),
        ("resume", "resume"),
        ("fork", "resume"),
        ("compact", "compacted"),
        ("new word", "start"),
    ],
)
def test_a_start_says_what_begins(source: str, reason: str) -> None:
    arrived = CODEC.decode("SessionStart", capture("SessionStart.json") | {"source": source})
    assert isinstance(arrived.what, Starting)
    assert arrived.what.reason == reason
    assert arrived.model == "gpt-5.4"


def test_a_prompt_that_a_subagent_gets_is_that_subagents() -> None:
    arrived = CODEC.decode("UserPromptSubmit", capture("UserPromptSubmit.json") | {"agent_id": "agent_0001", "agent_type": "default"})
    assert (arrived.subagent, arrived.what) == ("agent_0001", PromptGiven("Do the thing."))


def test_an_automatic_compaction() -> None:
    assert CODEC.decode("PreCompact", capture("PreCompact.json") | {"trigger": "auto"}).what == Compacting("automatic")


def test_a_reply_may_be_missing_and_a_hook_may_have_sent_the_model_back() -> None:
    payload = capture("Stop.json") | {"last_assistant_message": None, "stop_hook_active": True}
    assert CODEC.decode("Stop", payload).what == Stopping("", again=True)


@pytest.mark.parametrize("event", ["SomethingNew", "preToolUse"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, capture("PreToolUse.json")).what == Other()


def test_fields_that_are_not_known_are_let_be() -> None:
    assert CODEC.decode("Stop", capture("Stop.json") | {"new": [1]}) == CODEC.decode("Stop", capture("Stop.json"))


def test_a_subagent_without_an_id_does_not_end_the_agent() -> None:
    with pytest.raises(PayloadInvalid, match="agent_id"):
        CODEC.decode("SubagentStop", capture("SubagentStop.json") | {"agent_id": ""})


@pytest.mark.parametrize(
    ("tool", "response", "is_error"),
    [
        ("mcp__s__t", {"content": [{"type": "text", "text": "no"}], "isError": True}, True),
        ("apply_patch", "Exit code: 1\nno such file", True),
        ("apply_patch", "Exit code: 0\nOutput: Exit code: 1\n", False),
        ("Bash", "Exit code: 1\n", False),
        ("apply_patch", f"Exit code: {'9' * 10_000}\n", True),
    ],
)
def test_a_result_that_is_an_error(tool: str, response: Any, is_error: bool) -> None:
    given = {"command": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}
    payload = capture("PostToolUse.json") | {"tool_name": tool, "tool_input": given, "tool_response": response}
    what = CODEC.decode("PostToolUse", payload).what
    assert isinstance(what, CallDone)
    assert what.output.is_error is is_error


PATCH = """*** Begin Patch
*** Add File: new.txt
+one
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
-    old
+    new
*** Delete File: .env
*** End Patch
"""
TOUCHED = [
    ToolCall("call_0_0", "write", {"path": "new.txt", "content": "one\n"}),
    ToolCall("call_0_0-2", "edit", {"path": "src/a.py", "old": "    old", "new": "    new"}),
    ToolCall("call_0_0-3", "write", {"path": "src/b.py", "content": "    new"}),
    ToolCall("call_0_0-4", "write", {"path": ".env", "content": "", "deleted": True}),
]


def patching(event: str = "PreToolUse", patch: Any = PATCH) -> dict[str, Any]:
    return capture(f"{event}.json") | {"tool_name": "apply_patch", "tool_input": {"command": patch}}


def test_a_patch_is_a_call_for_every_file_that_it_touches() -> None:
    coming, done = (CODEC.decode(event, patching(event)).what for event in ("PreToolUse", "PostToolUse"))
    asked = CODEC.decode("PermissionRequest", patching("PermissionRequest")).what
    assert isinstance(coming, CallComing)
    assert isinstance(done, CallDone)
    assert isinstance(asked, PermissionAsked)
    assert [coming.call, *coming.more] == [done.call, *done.more] == TOUCHED
    assert [call.name for call in (asked.call, *asked.more)] == ["write", "edit", "write", "write"]
    assert (coming.tool, coming.input) == ("apply_patch", {"command": PATCH})


@pytest.mark.parametrize("patch", ["", "*** Begin Patch\n*** End Patch", "rm -rf /", 7, None, ["*** Begin Patch"]])
def test_a_patch_that_cannot_be_read_is_refused(patch: Any) -> None:
    with pytest.raises(PayloadInvalid) as invalid:
        CODEC.decode("PreToolUse", patching(patch=patch))
    answer = CODEC.refuse("PreToolUse", str(invalid.value))
    assert codex_honours("PreToolUse", answer)
    assert "tool_input.command" in answer["hookSpecificOutput"]["permissionDecisionReason"]
