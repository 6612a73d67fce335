"""Gemini CLI: every capture decodes to what it means."""

from typing import Any

import pytest

from tests.gateway.agents.captured import Captured, event_of
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.gemini import Gemini
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    CallComing,
    CallDone,
    Compacting,
    Ending,
    Other,
    PromptGiven,
    Starting,
    Stopping,
    What,
)
from treblehook.lifecycle import ShellOutcome

capture = Captured("gemini")
CODEC: Codec = Gemini()


def coming(tool: str, given: dict[str, Any], **more: Any) -> CallComing:
    what = CODEC.decode("BeforeTool", capture("BeforeTool.json") | {"tool_name": tool, "tool_input": given} | more).what
    assert isinstance(what, CallComing)
    return what


def done(name: str = "AfterTool.json", **more: Any) -> CallDone:
    what = CODEC.decode("AfterTool", capture(name) | more).what
    assert isinstance(what, CallDone)
    return what


def test_it_is_the_codec_of_gemini() -> None:
    codec = codec_of("gemini")
    assert codec.name == "gemini"
    assert isinstance(codec, Gemini)


WHATS: dict[str, What] = {
    "AfterModel.json": Other(),
    "BeforeModel.json": Other(),
    "BeforeToolSelection.json": Other(),
    "PreCompress.json": Other(),
    "SessionStart.json": Starting("start"),
    "BeforeAgent.json": PromptGiven("Do the thing."),
    "AfterAgent.json": Stopping("Found it.", again=False),
    "SessionEnd.json": Ending(),
}
CALLS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "BeforeTool.json": ("bash", {"command": "echo treasure > mark; cat mark", "description": "x"}, False),
    "AfterTool.json": ("bash", {"command": "echo treasure > mark; cat mark", "description": "x"}, False),
    "by-tool/AfterTool.run_shell_command.json": ("bash", {"command": "echo oops >&2; exit 3", "description": "x"}, True),
    "by-tool/AfterTool.read_file.json": ("read", {"path": "nope.txt"}, True),
    "by-tool/AfterTool.write_file.json": ("write", {"path": "/home/dev/project/a.txt", "content": "hi"}, False),
    "by-tool/AfterTool.replace.json": (
        "edit",
        {"path": "/home/dev/project/a.txt", "old": "hi", "new": "bye", "instruction": "x"},
        False,
    ),
    "by-tool/AfterTool.mcp_tiny_echo.json": ("mcp__tiny__echo", {"text": "hi"}, False),
    "by-tool/AfterTool.invoke_agent.json": ("agent", {"agent_name": "codebase_investigator", "task": "SUBTASK"}, False),
}


@pytest.mark.parametrize("name", capture.names)
def test_every_capture_decodes(name: str) -> None:
    arrived = CODEC.decode(event_of(name), capture(name))
    assert (arrived.session, arrived.workspace, arrived.subagent) == ("sess_0001", "/home/dev/project", "")
    assert CODEC.decode("", capture(name)) == arrived
    if isinstance(arrived.what, CallComing | CallDone):
        tool, given, is_error = CALLS[name]
        assert (arrived.what.call.name, arrived.what.call.input) == (tool, given)
        assert arrived.what.tool == capture(name)["tool_name"]
        if isinstance(arrived.what, CallDone):
            assert arrived.what.output.is_error is is_error
            assert arrived.what.response == capture(name)["tool_response"]
    else:
        assert arrived.what == WHATS[name]


@pytest.mark.parametrize(("source", "reason"), [("startup", "start"), ("clear", "start"), ("resume", "resume"), ("new word", "start")])
def test_a_start_says_what_begins(source: str, reason: str) -> None:
    what = CODEC.decode("SessionStart", capture("SessionStart.json") | {"source": source}).what
    assert isinstance(what, Starting)
    assert what.reason == reason


def test_a_compaction_is_one_where_the_user_asks_for_it() -> None:
    """An automatic one is announced before every model turn, compaction or not."""
    assert CODEC.decode("PreCompress", capture("PreCompress.json") | {"trigger": "manual"}).what == Compacting("manual")
    assert CODEC.decode("PreCompress", capture("PreCompress.json") | {"trigger": "auto"}).what == Other()


def test_a_hook_may_have_sent_the_model_back() -> None:
    assert CODEC.decode("AfterAgent", capture("AfterAgent.json") | {"stop_hook_active": True}).what == Stopping("Found it.", again=True)


@pytest.mark.parametrize("event", ["Notification", "SomethingNew", "beforeTool"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, capture("BeforeTool.json")).what == Other()


def test_before_and_after_a_call_it_has_the_same_id() -> None:
    before, after = capture("BeforeTool.json"), capture("AfterTool.json") | {"timestamp": "2026-01-01T00:00:09.000Z"}
    call = coming(before["tool_name"], before["tool_input"]).call
    what = CODEC.decode("AfterTool", after).what
    assert isinstance(what, CallDone)
    assert what.call == call
    assert coming("run_shell_command", {"command": "ls"}).call.id != call.id
    assert coming(before["tool_name"], before["tool_input"], session_id="sess_0002").call.id != call.id


@pytest.mark.parametrize(
    ("tool", "given", "ours", "input"),
    [
        ("read_file", {"absolute_path": "/a", "start_line": 3, "limit": 1}, "read", {"path": "/a", "offset": 3, "limit": 1}),
        ("glob", {"pattern": "*", "dir_path": "src"}, "glob", {"pattern": "*", "path": "src"}),
        ("run_shell_command", {"command": "ls", "dir_path": "src"}, "bash", {"command": "ls", "workdir": "src"}),
        (
            "grep_search",
            {"pattern": "x", "dir_path": "src", "include_pattern": "*.py"},
            "grep",
            {"pattern": "x", "path": "src", "include_pattern": "*.py"},
        ),
        ("search_file_content", {"pattern": "x"}, "grep", {"pattern": "x"}),
        ("list_directory", {"dir_path": "src"}, "list_directory", {"dir_path": "src"}),
        ("mcp_tiny_echo", {"text": "hi"}, "mcp_tiny_echo", {"text": "hi"}),
    ],
)
def test_tools_have_our_names(tool: str, given: dict[str, Any], ours: str, input: dict[str, Any]) -> None:
    call = coming(tool, given).call
    assert (call.name, call.input) == (ours, input)


def test_a_tool_of_a_server_is_known_by_what_gemini_says_of_it() -> None:
    call = coming("mcp_my_server_do_it", {}, mcp_context={"server_name": "my_server", "tool_name": "do_it"}).call
    assert call.name == "mcp__my_server__do_it"


@pytest.mark.parametrize("context", [None, {}, {"server_name": "s"}, {"server_name": 1, "tool_name": "t"}, "s"])
def test_a_server_that_cannot_be_told_is_invalid(context: Any) -> None:
    with pytest.raises(PayloadInvalid):
        coming("mcp_s_t", {}, mcp_context=context)


def test_two_paths_for_one_file_are_invalid() -> None:
    with pytest.raises(PayloadInvalid, match="path"):
        coming("read_file", {"file_path": "readme.md", "absolute_path": "/etc/shadow"})


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        ("Output: treasure\nProcess Group PGID: 1234", ShellOutcome(0, "treasure", "", 0)),
        ("<untrusted_context>\nOutput: oops\nExit Code: 3\nProcess Group PGID: 1234\n</untrusted_context>", ShellOutcome(3, "oops", "", 0)),
        ("Output: (empty)", ShellOutcome(0, "", "", 0)),
        ("Output: a\nb\nSignal: 9\nBackground PIDs: 1, 2\nProcess Group PGID: 1", ShellOutcome(137, "a\nb", "", 0)),
        ("Output: (empty)\nError: spawn ENOENT", ShellOutcome(1, "", "", 0)),
        (f"Output: a\nExit Code: {'9' * 10_000}", ShellOutcome(1, "a", "", 0)),
        ("Output: a\nExit Code: 1\nmore", ShellOutcome(0, "a\nExit Code: 1\nmore", "", 0)),
        ("Command moved to background (PID: 7). Output hidden. Press Ctrl+B to view.", None),
        ("Command was cancelled by user before it could complete. There was no output before it was cancelled.", None),
        ("", None),
    ],
)
def test_what_a_command_came_to(content: str, outcome: ShellOutcome | None) -> None:
    output = done(tool_response={"llmContent": content, "returnDisplay": ""}).output
    assert output.content == content
    assert output.shell == outcome
    assert output.is_error is (outcome is not None and outcome.exit_code != 0)


def test_ten_megabytes_of_output_are_read_at_once() -> None:
    content = "Output: " + "Exit Code: 1\n" * 800_000 + "\nExit Code: 2"
    output = done(tool_response={"llmContent": content}).output
    assert output.shell is not None
    assert output.shell.exit_code == 2


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        (
            {"llmContent": [{"text": "a"}, {"text": "b"}, {"inlineData": {"mimeType": "image/png"}}]},
            'a\nb\n{"inlineData":{"mimeType":"image/png"}}',
            False,
        ),
        ({"llmContent": {"text": "a"}}, "a", False),
        ({"llmContent": "a", "error": {"message": "m", "type": "t"}}, "a", True),
        ({}, "", False),
    ],
)
def test_the_text_of_a_result(response: dict[str, Any], text: str, is_error: bool) -> None:
    output = done("by-tool/AfterTool.read_file.json", tool_response=response).output
    assert (output.content, output.is_error, output.shell) == (text, is_error, None)
