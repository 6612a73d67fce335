"""What hooks are sent: the keys that Claude Code sends, in its order, with our tools under its names."""

from typing import Any

import pytest

from tests.support.settings_rig import SettingsRig, context_texts
from treblehook.lifecycle import CompactionStarting, PermissionRequest, SessionEnd, ToolCall

HEAD = ["session_id", "transcript_path", "cwd"]
CALL = ["permission_mode", "hook_event_name", "tool_name", "tool_input"]


async def test_a_call(rig: SettingsRig) -> None:
    rig.records("PreToolUse", "log")

    await rig.proposed(command="dig", timeout_ms=5)

    [payload] = rig.sent("log")
    assert payload == {
        "session_id": "s1",
        "transcript_path": "/sessions/s1.jsonl",
        "cwd": str(rig.workspace),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "dig", "timeout": 5},
        "tool_use_id": "call_1",
    }
    assert list(payload) == [*HEAD, *CALL, "tool_use_id"]


@pytest.mark.parametrize(
    ("tool", "given", "name", "told"),
    [
        ("read", {"path": "map", "offset": 2}, "Read", {"file_path": "{work}/map", "offset": 2}),
        ("write", {"path": "/map", "content": "x"}, "Write", {"file_path": "/map", "content": "x"}),
        (
            "edit",
            {"path": "a/../map", "old": "x", "new": "y"},
            "Edit",
            {"file_path": "{work}/map", "old_string": "x", "new_string": "y", "replace_all": False},
        ),
        ("glob", {"pattern": "*"}, "Glob", {"pattern": "*"}),
        ("grep", {"pattern": "x", "path": "a"}, "Grep", {"pattern": "x", "path": "a"}),
        (
            "agent",
            {"task": "dig", "background": True},
            "Agent",
            {"prompt": "dig", "run_in_background": True, "subagent_type": "general-purpose"},
        ),
        ("mcp__sea__ask", {"path": "x"}, "mcp__sea__ask", {"path": "x"}),
        ("read", {"path": 5}, "Read", {"file_path": 5}),
    ],
)
async def test_our_tools_under_their_names(rig: SettingsRig, tool: str, given: Any, name: str, told: Any) -> None:
    rig.records("PreToolUse", "log")

    await rig.proposed(tool, **given)

    [payload] = rig.sent("log")
    wanted = {key: value.replace("{work}", str(rig.workspace)) if isinstance(value, str) else value for key, value in told.items()}
    assert (payload["tool_name"], payload["tool_input"]) == (name, wanted)


async def test_a_permission_request_has_no_call_id(rig: SettingsRig) -> None:
    rig.records("PermissionRequest", "log")

    await rig.fire(PermissionRequest(call=ToolCall("call_1", "bash", {"command": "dig"}), **rig.facts))

    [payload] = rig.sent("log")
    assert list(payload) == [*HEAD, *CALL, "permission_suggestions"]


@pytest.mark.parametrize(
    ("tool", "given", "text", "told"),
    [
        (
            "bash",
            {"command": "x"},
            "sand",
            {"stdout": "sand", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
        ),
        (
            "read",
            {"path": "/map"},
            "     1\ta\n     2\tb",
            {"type": "text", "file": {"filePath": "/map", "content": "a\nb", "numLines": 2, "startLine": 1, "totalLines": 2}},
        ),
        ("glob", {"pattern": "*"}, "a\nb", {"filenames": ["a", "b"], "durationMs": 12, "numFiles": 2, "truncated": False}),
        ("mcp__sea__ask", {"text": "x"}, "sand", [{"type": "text", "text": "sand"}]),
    ],
)
async def test_a_result_in_the_shape_of_its_tool(rig: SettingsRig, tool: str, given: Any, text: str, told: Any) -> None:
    rig.records("PostToolUse", "log")

    await rig.finished(text, name=tool, **given)

    [payload] = rig.sent("log")
    assert payload["tool_response"] == told
    assert list(payload) == [*HEAD, *CALL, "tool_response", "tool_use_id", "duration_ms"]


@pytest.mark.parametrize(
    ("tool", "given", "keys"),
    [
        ("write", {"path": "/m", "content": "x"}, {"type", "filePath", "content", "structuredPatch", "originalFile", "userModified"}),
        (
            "edit",
            {"path": "/m", "old": "x", "new": "y"},
            {"filePath", "oldString", "newString", "originalFile", "structuredPatch", "userModified", "replaceAll"},
        ),
        ("grep", {"pattern": "x"}, {"mode", "content", "numLines", "filenames", "numFiles"}),
    ],
)
async def test_the_keys_of_other_results(rig: SettingsRig, tool: str, given: Any, keys: set[str]) -> None:
    rig.records("PostToolUse", "log")

    await rig.finished("done", name=tool, **given)

    [payload] = rig.sent("log")
    assert set(payload["tool_response"]) == keys


async def test_a_failure(rig: SettingsRig) -> None:
    rig.records("PostToolUseFailure", "log")

    await rig.finished("no sand", is_error=True)

    [payload] = rig.sent("log")
    assert list(payload) == [*HEAD, *CALL, "tool_use_id", "error", "is_interrupt", "duration_ms"]
    assert (payload["error"], payload["duration_ms"]) == ("no sand", 12)


async def test_the_other_events(rig: SettingsRig) -> None:
    for name in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
        rig.records(name, "log")

    await rig.started()
    await rig.prompted("dig")
    await rig.ending(continuations=1)
    await rig.fire(CompactionStarting(reason="automatic", tokens=1, **rig.facts))
    await rig.fire(SessionEnd(reason="idle", **rig.facts))

    start, prompt, stop, compact, end = ({k: v for k, v in payload.items() if k not in HEAD} for payload in rig.sent("log"))
    assert start == {"hook_event_name": "SessionStart", "source": "startup"}
    assert prompt == {"permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "dig"}
    assert stop == {
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": True,
        "last_assistant_message": "Dug.",
        "background_tasks": [],
        "session_crons": [],
    }
    assert compact == {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": None}
    assert end == {"hook_event_name": "SessionEnd", "reason": "other"}


async def test_a_subagent(rig: SettingsRig) -> None:
    rig.spawned = True
    for name in ("SubagentStart", "PreToolUse", "SubagentStop"):
        rig.records(name, "log")

    await rig.started()
    await rig.proposed()
    await rig.ending()

    start, call, stop = rig.sent("log")
    assert [(payload["agent_id"], payload["agent_type"]) for payload in (start, call, stop)] == [("s1", "general-purpose")] * 3
    assert stop["agent_transcript_path"] == "/sessions/s1.jsonl"


async def test_a_command_stands_in_the_workspace_and_knows_it(rig: SettingsRig) -> None:
    rig.hook("UserPromptSubmit", 'echo "$CLAUDE_PROJECT_DIR|$PWD|$DIGGER"; cat >/dev/null')

    assert context_texts(await rig.prompted()) == [f"{rig.workspace}|{rig.workspace}|Anne"]


async def test_ten_megabytes_of_input_reach_the_hook(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "test $(wc -c) -gt 10000000 || exit 2")

    assert (await rig.proposed(command="x" * 10_000_000)).decision is None
    assert rig.errors() == []
