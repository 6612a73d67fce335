"""Claude Code's tools under our names, and back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.drawn import JSON
from tests.gateway.samples import sample
from treblehook.gateway.agents.claude_code import ClaudeCode
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import CallComing, PermissionAsked, RunRewritten
from treblehook.lifecycle import ToolCall

CODEC: Codec = ClaudeCode()


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("claude", name).payload | changed


def coming(tool: str, given: dict[str, Any]) -> CallComing:
    what = CODEC.decode("PreToolUse", payload("PreToolUse", tool_name=tool, tool_input=given)).what
    assert isinstance(what, CallComing)
    return what


TOOLS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Bash", {"command": "ls", "timeout": 5000, "run_in_background": True}, "bash", {"timeout_ms": 5000}),
    ("Monitor", {"command": "tail -f log", "description": "d", "timeout_ms": 9}, "bash", {"command": "tail -f log", "timeout_ms": 9}),
    ("Monitor", {"ws": {"url": "wss://x"}, "description": "d"}, "Monitor", {"ws": {"url": "wss://x"}}),
    ("PowerShell", {"command": "ls", "timeout": 5000}, "bash", {"timeout_ms": 5000}),
    ("Read", {"file_path": "/x", "offset": 3, "limit": 9, "pages": "1-2"}, "read", {"path": "/x", "offset": 3, "limit": 9}),
    ("NotebookRead", {"notebook_path": "/x"}, "read", {"path": "/x"}),
    ("Write", {"file_path": "/x", "content": "c"}, "write", {"path": "/x", "content": "c"}),
    (
        "Edit",
        {"file_path": "/x", "old_string": "a", "new_string": "b", "replace_all": True},
        "edit",
        {"path": "/x", "old": "a", "new": "b"},
    ),
    ("NotebookEdit", {"notebook_path": "/x", "cell_id": "c", "new_source": "s", "edit_mode": "insert"}, "edit", {"path": "/x", "new": "s"}),
    ("Glob", {"pattern": "*", "path": "/x"}, "glob", {"pattern": "*", "path": "/x"}),
    ("Grep", {"pattern": "a", "path": "/x", "-i": True, "output_mode": "content"}, "grep", {"pattern": "a", "path": "/x", "-i": True}),
    ("Agent", {"prompt": "p", "subagent_type": "s", "run_in_background": True}, "agent", {"task": "p", "background": True}),
    ("Task", {"prompt": "p", "subagent_type": "s"}, "agent", {"task": "p", "subagent_type": "s"}),
    ("mcp__s__t", {"file_path": "/x"}, "mcp__s__t", {"file_path": "/x"}),
    ("WebFetch", {"url": "http://x", "prompt": "p"}, "WebFetch", {"prompt": "p"}),
]


@pytest.mark.parametrize(("tool", "given", "name", "among"), TOOLS, ids=[f"{row[0]}-{len(row[1])}" for row in TOOLS])
def test_a_tool_has_our_name_and_our_keys(tool: str, given: dict[str, Any], name: str, among: dict[str, Any]) -> None:
    call = coming(tool, given).call
    assert call.name == name
    assert among.items() <= call.input.items()
    assert len(call.input) == len(given)


EDITS = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d", "replace_all": True}]


def test_a_multi_edit_is_a_call_for_each_of_its_edits() -> None:
    found = coming("MultiEdit", {"file_path": "/x", "edits": EDITS})
    assert [found.call, *found.more] == [
        ToolCall("toolu_0_0", "edit", {"old": "a", "new": "b", "path": "/x"}),
        ToolCall("toolu_0_0-2", "edit", {"old": "c", "new": "d", "replace_all": True, "path": "/x"}),
    ]
    request = payload("PermissionRequest", tool_name="MultiEdit", tool_input={"file_path": "/x", "edits": EDITS})
    what = CODEC.decode("PermissionRequest", request).what
    assert isinstance(what, PermissionAsked)
    assert [call.input["new"] for call in (what.call, *what.more)] == ["b", "d"]


@pytest.mark.parametrize("edits", [None, [], {}, ["x"], "x"])
def test_a_multi_edit_without_edits_is_invalid(edits: Any) -> None:
    with pytest.raises(PayloadInvalid, match=r"tool_input\.edits"):
        coming("MultiEdit", {"file_path": "/x", "edits": edits})


def test_an_edit_in_a_multi_edit_cannot_name_another_file() -> None:
    found = coming("MultiEdit", {"file_path": "/x", "edits": [{"file_path": "/y", "old_string": "a", "new_string": "b"}]})
    assert found.call.input["path"] == "/x"


def test_two_keys_that_are_one_to_us_are_invalid() -> None:
    with pytest.raises(PayloadInvalid, match=r"tool_input\.path"):
        coming("Write", {"file_path": "/x", "path": "/y", "content": "c"})


OWN_KEYS = [
    *("command", "timeout", "timeout_ms", "file_path", "path", "notebook_path", "content", "old_string", "old", "new_string", "new"),
    *("new_source", "replace_all", "offset", "limit", "pattern", "prompt", "task", "run_in_background", "background", "description"),
]


@settings(deadline=None)
@given(
    tool=st.sampled_from(sorted({row[0] for row in TOOLS})),
    value=st.dictionaries(st.sampled_from(OWN_KEYS) | st.text(max_size=9), JSON, max_size=6),
)
def test_an_input_that_nobody_rewrites_comes_back_as_it_was(tool: str, value: dict[str, Any]) -> None:
    sent = payload("PreToolUse", tool_name=tool, tool_input=value)
    try:
        arrived = CODEC.decode("PreToolUse", sent)
    except PayloadInvalid:
        # Two keys that are one to us.
        return
    assert isinstance(arrived.what, CallComing)
    answer = CODEC.encode(arrived, RunRewritten(arrived.what.call.input))
    assert answer == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": value}}
