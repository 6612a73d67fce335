"""Qwen Code: what its captures mean, its tools under our names and back, and what is not its call."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.drawn import JSON, spoiled
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import Sample, sample, samples
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.qwen import Qwen
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    CallComing,
    CallDone,
    Compacting,
    Ending,
    GoOn,
    Other,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

CODEC: Codec = Qwen()
SAMPLES = samples("qwen")


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("qwen", name).payload | changed


def coming(name: str, ours: str, given: dict[str, Any]) -> CallComing:
    found = payload(name)
    return CallComing(ToolCall(found["tool_use_id"], ours, given), found["tool_name"], found["tool_input"])


def done(name: str, ours: str, given: dict[str, Any], output: ToolOutput | None = None) -> CallDone:
    """Without an `output` it is what the model gets, as it is."""
    found = payload(name)
    response = found.get("tool_response")
    output = ToolOutput(response["llmContent"]) if output is None else output
    return CallDone(ToolCall(found["tool_use_id"], ours, given), found["tool_name"], output, response, 12.0)


LEAVE = {"command": "echo treasure > mark; cat mark", "description": "x", "is_background": False}
FAIL = {"command": "echo oops >&2; exit 3", "description": "x", "is_background": False}
RAN = payload("PostToolUse")["tool_response"]["llmContent"]
FAILED = payload("PostToolUseFailure")["error"]
FILE = "/home/dev/project/a.txt"
CHANGE = {"path": FILE, "old": "hello", "new": "bye"}
DIG = {"description": "dig", "task": "SUBTASK", "subagent_type": "general-purpose"}
WHATS: dict[str, What] = {
    "SessionStart": Starting("start"),
    "UserPromptSubmit": PromptGiven("Do the thing."),
    # The results of tools, which it sends to its model as a prompt of its own: the second event for one prompt.
    "UserPromptSubmit.tool-results": Other(),
    "PreToolUse": coming("PreToolUse", "bash", LEAVE),
    "PostToolUse": done("PostToolUse", "bash", LEAVE, shell_output("treasure", content=RAN)),
    "PostToolUseFailure": done("PostToolUseFailure", "bash", FAIL, shell_output("oops", exit_code=3, content=FAILED)),
    "Stop": Stopping("Found it.", again=False),
    "SubagentStop": SubagentDone("ok", again=False),
    "PreToolUse.agent": coming("PreToolUse.agent", "agent", DIG),
    "PreToolUse.edit": coming("PreToolUse.edit", "edit", CHANGE),
    "PreToolUse.glob": coming("PreToolUse.glob", "glob", {"pattern": "*.txt"}),
    "PreToolUse.grep_search": coming("PreToolUse.grep_search", "grep", {"pattern": "bye"}),
    "PreToolUse.mcp__tiny__echo": coming("PreToolUse.mcp__tiny__echo", "mcp__tiny__echo", {"text": "hi"}),
    "PreToolUse.read_file": coming("PreToolUse.read_file", "read", {"path": FILE}),
    "PreToolUse.read_file.subagent": coming("PreToolUse.read_file.subagent", "read", {"path": FILE}),
    "PreToolUse.run_shell_command": coming("PreToolUse.run_shell_command", "bash", LEAVE | {"command": "echo a"}),
    "PreToolUse.write_file": coming("PreToolUse.write_file", "write", {"path": FILE, "content": "hello\n"}),
    "PostToolUse.agent": done("PostToolUse.agent", "agent", DIG),
    "PostToolUse.edit": done("PostToolUse.edit", "edit", CHANGE),
    "PostToolUse.glob": done("PostToolUse.glob", "glob", {"pattern": "*.txt"}),
    "PostToolUse.grep_search": done("PostToolUse.grep_search", "grep", {"pattern": "bye"}),
    "PostToolUse.mcp__tiny__echo": done("PostToolUse.mcp__tiny__echo", "mcp__tiny__echo", {"text": "hi"}, ToolOutput("echo: hi")),
    "PostToolUse.read_file": done("PostToolUse.read_file", "read", {"path": FILE}),
    "PostToolUse.read_file.subagent": done("PostToolUse.read_file.subagent", "read", {"path": FILE}),
    "PostToolUse.run_shell_command": done("PostToolUse.run_shell_command", "bash", LEAVE, shell_output("treasure", content=RAN)),
    "PostToolUse.write_file": done("PostToolUse.write_file", "write", {"path": FILE, "content": "hello\n"}),
    "PostToolUseFailure.run_shell_command": done(
        "PostToolUseFailure.run_shell_command", "bash", FAIL, shell_output("oops", exit_code=3, content=FAILED)
    ),
}


def test_it_is_the_codec_of_qwen() -> None:
    codec = codec_of("qwen")
    assert codec.name == "qwen"
    assert isinstance(codec, Qwen)


@pytest.mark.parametrize("one", SAMPLES, ids=str)
def test_every_capture_decodes_to_what_it_means(one: Sample) -> None:
    arrived = CODEC.decode(one.event, one.payload)
    assert arrived.what == WHATS.get(one.name, Other())
    assert (arrived.event, arrived.session, arrived.workspace) == (one.event, "sess_0001", "/home/dev/project")
    assert arrived.subagent == one.payload.get("agent_id", "")
    assert arrived.model == one.payload.get("model", "")
    assert CODEC.decode("", one.payload) == arrived


def test_every_capture_that_has_a_row_is_among_them() -> None:
    assert set(WHATS) <= {one.name for one in SAMPLES}


def test_events_that_a_headless_run_does_not_send() -> None:
    asked = CODEC.decode("PermissionRequest", payload("PreToolUse", hook_event_name="PermissionRequest")).what
    assert isinstance(asked, PermissionAsked)
    assert (asked.call.name, asked.call.input) == ("bash", LEAVE)
    assert CODEC.decode("SessionEnd", payload("Stop", hook_event_name="SessionEnd")).what == Ending()
    assert CODEC.decode("PreCompact", payload("Stop", hook_event_name="PreCompact", trigger="manual")).what == Compacting("manual")
    assert CODEC.decode("PreCompact", payload("Stop", hook_event_name="PreCompact", trigger="auto")).what == Compacting("automatic")


def test_the_end_of_a_background_agent_is_not_the_users_word() -> None:
    told = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=told)).what == Other()
    said = "<task-notification>done"
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=said)).what == PromptGiven(said)


@pytest.mark.parametrize("blank", ["", " \n"])
def test_tool_results_that_it_sends_back_are_not_the_users_word(blank: str) -> None:
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=blank)).what == Other()


def test_a_subagent_without_an_id_does_not_end_the_agent() -> None:
    with pytest.raises(PayloadInvalid, match="agent_id"):
        CODEC.decode("SubagentStop", payload("SubagentStop", agent_id=None))


def ran(command: str, content: str, **more: Any) -> ToolOutput:
    sent = payload("PostToolUse", tool_input={"command": command}, tool_response={"llmContent": content}, **more)
    what = CODEC.decode("PostToolUse", sent).what
    assert isinstance(what, CallDone)
    assert what.output.content == content
    return what.output


ENDED = "\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)"


def test_what_a_command_prints_cannot_be_taken_for_its_status() -> None:
    printed = "\nError: (none)\nExit Code: 9\n"
    output = ran("x", f"Command: x\nDirectory: (root)\nOutput: {printed}{ENDED}")
    assert output.shell is not None
    assert (output.shell.exit_code, output.shell.stdout, output.is_error) == (0, printed, False)


def test_a_command_with_such_a_text_in_it_is_not_taken_for_a_label() -> None:
    command = "echo '\nOutput: no'"
    output = ran(command, f"Command: {command}\nDirectory: (root)\nOutput: (empty){ENDED}")
    assert output.shell is not None
    assert output.shell.stdout == ""


def test_a_command_that_a_signal_ended() -> None:
    content = "Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: (none)\nSignal: 9\nProcess Group PGID: (none)"
    output = ran("x", content)
    assert output.shell is not None
    assert (output.shell.exit_code, output.is_error) == (137, True)


@pytest.mark.parametrize("content", ["Background command started. PID: 7", "Command: y\nDirectory: (root)\nOutput: a" + ENDED, ""])
def test_what_is_no_report_of_an_ended_command_has_no_status(content: str) -> None:
    assert ran("x", content) == ToolOutput(content)


def test_a_failure_of_a_command_that_never_ran_is_an_error() -> None:
    what = CODEC.decode("PostToolUseFailure", payload("PostToolUseFailure", error="no such directory")).what
    assert isinstance(what, CallDone)
    assert what.output == ToolOutput("no such directory", is_error=True)


TOOLS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("run_shell_command", {"command": "ls", "timeout": 5000, "directory": "/x"}, "bash", {"timeout_ms": 5000, "workdir": "/x"}),
    ("monitor", {"command": "tail -f log", "max_events": 3}, "bash", {"command": "tail -f log", "max_events": 3}),
    ("read_file", {"file_path": "/x", "offset": 3, "limit": None}, "read", {"path": "/x", "offset": 3, "limit": None}),
    ("read_file", {"absolute_path": "/x"}, "read", {"path": "/x"}),
    ("write_file", {"file_path": "/x", "content": "c"}, "write", {"path": "/x", "content": "c"}),
    (
        "edit",
        {"file_path": "/x", "old_string": "a", "new_string": "b", "replace_all": True},
        "edit",
        {"path": "/x", "old": "a", "new": "b"},
    ),
    ("replace", {"file_path": "/x", "old_string": "a", "new_string": "b"}, "edit", {"path": "/x", "old": "a", "new": "b"}),
    ("notebook_edit", {"notebook_path": "/x", "cell_id": "c", "new_source": "s"}, "edit", {"path": "/x", "new": "s"}),
    ("glob", {"pattern": "*", "path": "/x"}, "glob", {"pattern": "*", "path": "/x"}),
    ("grep_search", {"pattern": "a", "glob": "*.c", "limit": 3}, "grep", {"pattern": "a", "glob": "*.c"}),
    ("search_file_content", {"pattern": "a"}, "grep", {"pattern": "a"}),
    ("agent", {"prompt": "p", "run_in_background": True}, "agent", {"task": "p", "background": True}),
    ("task", {"prompt": "p"}, "agent", {"task": "p"}),
    ("mcp__s__t", {"file_path": "/x"}, "mcp__s__t", {"file_path": "/x"}),
    ("web_fetch", {"url": "http://x", "prompt": "p"}, "web_fetch", {"prompt": "p"}),
]


@pytest.mark.parametrize(("tool", "given", "name", "among"), TOOLS, ids=[f"{row[0]}-{len(row[1])}" for row in TOOLS])
def test_a_tool_has_our_name_and_our_keys(tool: str, given: dict[str, Any], name: str, among: dict[str, Any]) -> None:
    what = CODEC.decode("PreToolUse", payload("PreToolUse", tool_name=tool, tool_input=given)).what
    assert isinstance(what, CallComing)
    assert what.call.name == name
    assert among.items() <= what.call.input.items()
    assert len(what.call.input) == len(given)


OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in Qwen Code. Make it again with this one: "
OWN_KEYS = [
    *("command", "timeout", "timeout_ms", "absolute_path", "file_path", "path", "notebook_path", "content", "old_string", "old"),
    *("new_string", "new", "new_source", "pattern", "prompt", "task", "run_in_background", "background", "description"),
]


@settings(deadline=None)
@given(
    tool=st.sampled_from(sorted({row[0] for row in TOOLS})),
    value=st.dictionaries(st.sampled_from(OWN_KEYS) | st.text(max_size=9), JSON, max_size=6),
)
def test_an_input_that_nobody_rewrites_is_told_as_it_was(tool: str, value: dict[str, Any]) -> None:
    try:
        arrived = CODEC.decode("PreToolUse", payload("PreToolUse", tool_name=tool, tool_input=value))
    except PayloadInvalid:
        # Two keys that are one to us.
        return
    assert isinstance(arrived.what, CallComing)
    reason = CODEC.encode(arrived, RunRewritten(arrived.what.call.input))["hookSpecificOutput"]["permissionDecisionReason"]
    assert len(reason) < 21_000
    if not reason.endswith("characters)"):
        assert json.loads(reason.removeprefix(OTHER_INPUT)) == value


def test_fields_and_events_that_are_not_known_are_let_be() -> None:
    assert CODEC.decode("PreToolUse", payload("PreToolUse", new=[1])) == CODEC.decode("PreToolUse", payload("PreToolUse"))
    assert CODEC.decode("SomethingNew", payload("PreToolUse", hook_event_name="SomethingNew")).what == Other()


@pytest.mark.parametrize("key", ["session_id", "cwd", "tool_name", "tool_input"])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str) -> None:
    for broken in ({name: value for name, value in payload("PreToolUse").items() if name != key}, payload("PreToolUse", **{key: None})):
        with pytest.raises(PayloadInvalid, match=key):
            CODEC.decode("PreToolUse", broken)


@settings(deadline=None)
@given(data=st.data(), one=st.sampled_from(SAMPLES))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, one: Sample) -> None:
    answer = data.draw(st.sampled_from([Refused("R"), Patched("new", is_error=False), RunRewritten({"command": "ls"}), GoOn("G")]))
    try:
        encoded = CODEC.encode(CODEC.decode(one.event, data.draw(spoiled(one.payload))), answer)
    except PayloadInvalid as invalid:
        encoded = CODEC.refuse(one.event, str(invalid))
    assert honours(HONOURED["qwen"], one.event, encoded)
