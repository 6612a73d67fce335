"""Claude Code: what its captures mean, its tools under our names and back, and what is not its call."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.drawn import spoiled
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import Sample, sample, samples
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.claude_code import ClaudeCode
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

CODEC: Codec = ClaudeCode()
SAMPLES = samples("claude")
SDK = samples("claude-agent-sdk")


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("claude", name).payload | changed


def coming(tool: str, given: dict[str, Any], event: str = "PreToolUse") -> CallComing:
    what = CODEC.decode(event, payload(event, tool_name=tool, tool_input=given)).what
    assert isinstance(what, CallComing)
    return what


def done(name: str, call: ToolCall, output: ToolOutput) -> CallDone:
    found = payload(name)
    return CallDone(call, found["tool_name"], output, found.get("tool_response"), 12.0)


ECHO = {"command": "echo treasure", "description": "step"}
LEAVE = {"command": "echo treasure > mark; cat mark", "description": "step"}
GONE = "File does not exist. Note: your current working directory is /home/dev/project."
UNSAFE = (
    "Unable to verify if domain 127.0.0.1 is safe to fetch. This may be due to network restrictions or enterprise security policies "
    "blocking claude.ai."
)
DIG = {"description": "dig", "task": "SUBTASK dig here", "subagent_type": "general-purpose"}
CHANGE = {"path": "/home/dev/project/n.txt", "old": "hello", "new": "bye", "replace_all": False}


def as_json(name: str) -> ToolOutput:
    """A result in no shape that is text to us."""
    return ToolOutput(json.dumps(payload(name)["tool_response"], separators=(",", ":")))


WHATS: dict[str, What] = {
    "SessionStart": Starting("start"),
    "UserPromptSubmit": PromptGiven("Do the thing."),
    "PreToolUse": CallComing(ToolCall("toolu_0_0", "bash", ECHO), "Bash", ECHO),
    "PreSkillShellCommand": CallComing(
        ToolCall("uuid_0001:inner:preamble-0", "bash", {"command": "echo SHELLRAN"}), "Bash", {"command": "echo SHELLRAN"}
    ),
    "PostToolUse": done("PostToolUse", ToolCall("toolu_0_0", "bash", ECHO), shell_output("treasure")),
    "PostToolUseFailure": done(
        "PostToolUseFailure",
        ToolCall("toolu_0_0", "bash", {"command": "echo oops >&2; exit 3", "description": "step"}),
        shell_output("oops", exit_code=3, content="Exit code 3\noops"),
    ),
    "PreCompact": Compacting("manual"),
    "Stop": Stopping("Found it.", again=False),
    "SubagentStop": SubagentDone("Sub done.", again=False),
    "SessionEnd": Ending(),
    "PostToolUse.Agent": done("PostToolUse.Agent", ToolCall("toolu_0_0", "agent", DIG), as_json("PostToolUse.Agent")),
    "PostToolUse.Bash": done(
        "PostToolUse.Bash", ToolCall("toolu_0_0", "bash", {"command": "echo one", "description": "step"}), shell_output("one")
    ),
    "PostToolUse.Edit": done("PostToolUse.Edit", ToolCall("toolu_1_0", "edit", CHANGE), as_json("PostToolUse.Edit")),
    "PostToolUse.Glob": done("PostToolUse.Glob", ToolCall("toolu_2_0", "glob", {"pattern": "*.txt"}), as_json("PostToolUse.Glob")),
    "PostToolUse.Grep": done("PostToolUse.Grep", ToolCall("toolu_3_0", "grep", {"pattern": "bye"}), as_json("PostToolUse.Grep")),
    "PostToolUse.Read": done(
        "PostToolUse.Read", ToolCall("toolu_0_2", "read", {"path": "/home/dev/other/one.txt"}), ToolOutput("original\n")
    ),
    "PostToolUse.TaskCreate": done(
        "PostToolUse.TaskCreate",
        ToolCall("toolu_0_0", "TaskCreate", {"subject": "T1", "description": "d", "activeForm": "x"}),
        as_json("PostToolUse.TaskCreate"),
    ),
    "PostToolUse.TaskUpdate": done(
        "PostToolUse.TaskUpdate",
        ToolCall("toolu_1_0", "TaskUpdate", {"taskId": "1", "status": "completed"}),
        as_json("PostToolUse.TaskUpdate"),
    ),
    "PostToolUse.Write": done(
        "PostToolUse.Write",
        ToolCall("toolu_0_0", "write", {"path": "/home/dev/project/n.txt", "content": "hello\n"}),
        as_json("PostToolUse.Write"),
    ),
    "PostToolUse.mcp__tiny__ask": done(
        "PostToolUse.mcp__tiny__ask",
        ToolCall("toolu_0_0", "mcp__tiny__ask", {"text": "x"}),
        ToolOutput('answered: {"action": "accept", "content": {"colour": "red"}}'),
    ),
    "PostToolUse.mcp__tiny__echo": done(
        "PostToolUse.mcp__tiny__echo", ToolCall("toolu_0_0", "mcp__tiny__echo", {"text": "hi"}), ToolOutput("echo: hi")
    ),
    "PostToolUseFailure.Read": done(
        "PostToolUseFailure.Read", ToolCall("toolu_0_0", "read", {"path": "/nonexistent/x"}), ToolOutput(GONE, is_error=True)
    ),
    "PostToolUseFailure.WebFetch": done(
        "PostToolUseFailure.WebFetch",
        ToolCall("toolu_4_0", "WebFetch", {"url": "http://127.0.0.1:8000/x", "prompt": "x"}),
        ToolOutput(UNSAFE, is_error=True),
    ),
    "PostToolUseFailure.mcp__tiny__fail": done(
        "PostToolUseFailure.mcp__tiny__fail",
        ToolCall("toolu_1_0", "mcp__tiny__fail", {"text": "x"}),
        ToolOutput("it failed", is_error=True),
    ),
}
"""What each capture means; `PermissionRequest` has a test of its own, and all others have no row here."""

SDK_WHATS: dict[str, What] = {
    "PreToolUse": CallComing(ToolCall("toolu_0_0", "bash", LEAVE), "Bash", LEAVE),
    "Stop": Stopping("Found it.", again=False),
    "SubagentStop": SubagentDone("Sub done.", again=False),
    "UserPromptSubmit": PromptGiven("Do the thing."),
}


def test_it_is_the_codec_of_claude_code() -> None:
    codec = codec_of("claude-code")
    assert codec.name == "claude-code"
    assert isinstance(codec, ClaudeCode)


@pytest.mark.parametrize("one", [one for one in SAMPLES if one.name != "PermissionRequest"], ids=str)
def test_every_capture_decodes_to_what_it_means(one: Sample) -> None:
    arrived = CODEC.decode(one.event, one.payload)
    assert arrived.what == WHATS.get(one.name, Other())
    assert (arrived.event, arrived.session, arrived.workspace) == (one.event, "sess_0001", one.payload["cwd"])
    assert arrived.subagent == one.payload.get("agent_id", "")
    assert CODEC.decode("", one.payload) == arrived


def test_every_capture_that_has_a_row_is_among_them() -> None:
    assert set(WHATS) <= {one.name for one in SAMPLES}


@pytest.mark.parametrize("one", SDK, ids=str)
def test_what_its_sdk_sends_is_the_same(one: Sample) -> None:
    arrived = CODEC.decode(one.event, one.payload)
    assert arrived.session == "sess_0001"
    if one.name in SDK_WHATS:
        assert arrived.what == SDK_WHATS[one.name]
    else:
        kinds: dict[str, type] = {
            "PermissionRequest": PermissionAsked,
            "PostToolUse": CallDone,
            "PostToolUseFailure": CallDone,
            "MessageDisplay": Other,
            "PostToolBatch": Other,
            "SubagentStart": Other,
        }
        assert type(arrived.what) is kinds[one.name]


def test_a_permission_request_has_no_id_and_gets_one() -> None:
    what = CODEC.decode("PermissionRequest", payload("PermissionRequest")).what
    assert isinstance(what, PermissionAsked)
    assert (what.call.name, what.tool, what.more) == ("bash", "Bash", ())
    assert what.call.input == {"command": "rm -rf /home/dev/other/nothing_there", "description": "step"}
    assert what.call.id
    assert CODEC.decode("PermissionRequest", payload("PermissionRequest")).what == what


@pytest.mark.parametrize(
    ("source", "reason"), [("startup", "start"), ("clear", "start"), ("resume", "resume"), ("compact", "compacted"), ("new", "start")]
)
def test_a_start_says_what_begins(source: str, reason: str) -> None:
    what = CODEC.decode("SessionStart", payload("SessionStart", source=source)).what
    assert isinstance(what, Starting)
    assert what.reason == reason


def test_an_automatic_compaction() -> None:
    assert CODEC.decode("PreCompact", payload("PreCompact", trigger="auto")).what == Compacting("automatic")


def test_the_end_of_a_background_agent_is_not_the_users_word() -> None:
    told = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=told)).what == Other()


@pytest.mark.parametrize(
    "prompt",
    [
        "<task-notification> here is my key",
        "<task-notification>\n<task-id>a1</task-id>\n</task-notification>\nhere is my key",
        "here is my key\n<task-notification>\n<task-id>a1</task-id>\n</task-notification>",
        "<task-notification>\n</task-notification>\nhere is my key\n</task-notification>",
    ],
)
def test_what_a_user_says_beside_such_words_is_the_users(prompt: str) -> None:
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=prompt)).what == PromptGiven(prompt)


def test_several_background_agents_may_end_at_once() -> None:
    told = "<task-notification>\n<task-id>a1</task-id>\n</task-notification>\n"
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt=told * 3)).what == Other()


def test_a_prompt_that_is_only_a_picture_is_blank() -> None:
    assert CODEC.decode("UserPromptSubmit", payload("UserPromptSubmit", prompt="")).what == PromptGiven("")


def test_the_summariser_of_a_compaction_is_no_subagent_that_ends() -> None:
    assert CODEC.decode("SubagentStop", payload("SubagentStop", agent_type="")).what == Other()


def test_a_subagent_without_an_id_does_not_end_the_agent() -> None:
    with pytest.raises(PayloadInvalid, match="agent_id"):
        CODEC.decode("SubagentStop", payload("SubagentStop", agent_id=""))


def test_a_call_of_a_subagent_is_that_subagents() -> None:
    arrived = CODEC.decode("PreToolUse", payload("PreToolUse", agent_id="agent_0001", agent_type="general-purpose"))
    assert (arrived.session, arrived.subagent) == ("sess_0001", "agent_0001")


def test_a_hook_has_sent_the_model_back_already() -> None:
    assert CODEC.decode("Stop", payload("Stop", stop_hook_active=True, last_assistant_message=None)).what == Stopping("", again=True)


def test_a_command_that_goes_on_in_the_background_has_not_ended() -> None:
    response = payload("PostToolUse")["tool_response"] | {"stdout": "", "backgroundTaskId": "b1"}
    what = CODEC.decode("PostToolUse", payload("PostToolUse", tool_response=response)).what
    assert isinstance(what, CallDone)
    assert what.output == ToolOutput("")


@pytest.mark.parametrize(("error", "exit_code"), [("Exit code 127\nno such", 127), ("Exit code 0", 1), ("Exit code 7", 7)])
def test_a_command_that_failed_has_a_status(error: str, exit_code: int) -> None:
    what = CODEC.decode("PostToolUseFailure", payload("PostToolUseFailure", error=error)).what
    assert isinstance(what, CallDone)
    assert what.output.shell is not None
    assert (what.output.shell.exit_code, what.output.content) == (exit_code, error)


@pytest.mark.parametrize("error", ["Command timed out", "Exit code 99999999999999999999\n", "Exit code x", ""])
def test_an_error_without_a_status_is_an_error(error: str) -> None:
    what = CODEC.decode("PostToolUseFailure", payload("PostToolUseFailure", error=error)).what
    assert isinstance(what, CallDone)
    assert what.output == ToolOutput(error, is_error=True)


@pytest.mark.parametrize("event", ["SomethingNew", "preToolUse"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, payload("PreToolUse", hook_event_name=event)).what == Other()


def test_fields_that_are_not_known_are_let_be() -> None:
    changed = payload("PreToolUse", new=[1], tool_input={**ECHO, "new_key": None})
    assert CODEC.decode("PreToolUse", changed).what == coming("Bash", {**ECHO, "new_key": None})


@pytest.mark.parametrize("bad", [None, 7, [], {}, True])
@pytest.mark.parametrize("key", ["session_id", "cwd", "tool_name", "tool_input"])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str, bad: Any) -> None:
    if not (key == "tool_input" and bad == {}):
        with pytest.raises(PayloadInvalid, match=key):
            CODEC.decode("PreToolUse", payload("PreToolUse", **{key: bad}))
    without = payload("PreToolUse")
    del without[key]
    with pytest.raises(PayloadInvalid, match=key):
        CODEC.decode("PreToolUse", without)


def test_a_huge_field_of_a_wrong_type_is_not_told_as_a_whole() -> None:
    with pytest.raises(PayloadInvalid) as invalid:
        CODEC.decode("PreToolUse", payload("PreToolUse", tool_name=["x"] * 1_000_000))
    assert len(str(invalid.value)) < 200


@settings(deadline=None)
@given(data=st.data(), one=st.sampled_from(SAMPLES))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, one: Sample) -> None:
    answer = data.draw(st.sampled_from([Refused("R"), Patched("new", is_error=False), RunRewritten({"command": "ls"}), GoOn("G")]))
    try:
        encoded = CODEC.encode(CODEC.decode(one.event, data.draw(spoiled(one.payload))), answer)
    except PayloadInvalid as invalid:
        encoded = CODEC.refuse(one.event, str(invalid))
    assert honours(HONOURED["claude-code"], one.event, encoded)


def test_a_call_for_another_event_is_invalid() -> None:
    with pytest.raises(PayloadInvalid, match="hook_event_name"):
        CODEC.decode("PreToolUse", payload("PostToolUse"))
