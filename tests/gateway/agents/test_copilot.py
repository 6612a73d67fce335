"""Copilot: what its captures mean in both spellings, its tools under our names and back, and what is not its call."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.drawn import JSON, spoiled
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import Sample, sample, samples
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.copilot import Copilot
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

CODEC: Codec = Copilot()
SAMPLES = samples("copilot")
LEAVE = {"command": "echo treasure > mark; cat mark", "description": "x"}
SUB = {"command": "echo sub", "description": "x"}
FILE = "/home/dev/project/a.txt"
CHANGE = {"path": FILE, "old": "hello", "new": "bye"}
DIG = {"description": "dig", "task": "SUBTASK", "agent_type": "general-purpose", "name": "digger", "mode": "sync"}


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("copilot", name).payload | changed


def shell(stdout: str, exit_code: int = 0) -> ToolOutput:
    return shell_output(stdout, exit_code=exit_code, content=f"{stdout}\n<shellId: 0 completed with exit code {exit_code}>")


COMING: dict[str, tuple[str, dict[str, Any]]] = {
    "preToolUse": ("bash", LEAVE),
    "PreToolUse": ("bash", LEAVE),
    "preToolUse.bash.subagent": ("bash", SUB),
    "PreToolUse.Bash.subagent": ("bash", SUB),
    "preToolUse.create": ("write", {"path": FILE, "content": "hello\n"}),
    "PreToolUse.Write": ("write", {"path": FILE, "content": "hello\n"}),
    "preToolUse.view": ("read", {"path": FILE}),
    "PreToolUse.Read": ("read", {"path": FILE}),
    "preToolUse.edit": ("edit", CHANGE),
    "PreToolUse.Edit": ("edit", CHANGE),
    "preToolUse.apply_patch": ("write", {"path": "p.txt", "content": "hello\n"}),
    "PreToolUse.Edit.patch": ("write", {"path": "p.txt", "content": "hello\n"}),
    "preToolUse.grep": ("grep", {"pattern": "bye"}),
    "preToolUse.rg": ("grep", {"pattern": "bye"}),
    "PreToolUse.Grep": ("grep", {"pattern": "bye"}),
    "preToolUse.glob": ("glob", {"pattern": "*.txt"}),
    "PreToolUse.Glob": ("glob", {"pattern": "*.txt"}),
    "preToolUse.task": ("agent", DIG),
    "PreToolUse.Agent": ("agent", DIG),
    "preToolUse.tiny-echo": ("mcp__tiny__echo", {"text": "hi"}),
    "PreToolUse.tiny-echo": ("mcp__tiny__echo", {"text": "hi"}),
}
"""Our name and input of every call that is captured before it runs."""

DONE: dict[str, tuple[str, ToolOutput]] = {
    "postToolUse": ("bash", shell("treasure")),
    "PostToolUse": ("bash", shell("treasure")),
    "postToolUse.bash": ("bash", shell("oops", 3)),
    "PostToolUse.Bash": ("bash", shell("treasure")),
    "postToolUse.bash.subagent": ("bash", shell("sub")),
    "PostToolUse.Bash.subagent": ("bash", shell("sub")),
    "postToolUse.create": ("write", ToolOutput(f"Created file {FILE} with 6 characters")),
    "postToolUse.edit": ("edit", ToolOutput(f"File {FILE} updated with changes.")),
    "postToolUse.glob": ("glob", ToolOutput("./a.txt")),
    "postToolUse.grep": ("grep", ToolOutput("./a.txt")),
    "postToolUse.task": ("agent", ToolOutput("Sub done.")),
    "PostToolUse.Agent": ("agent", ToolOutput("sub2")),
    "postToolUse.tiny-echo": ("mcp__tiny__echo", ToolOutput("echo: hi")),
    "PostToolUse.tiny-echo": ("mcp__tiny__echo", ToolOutput("echo: hi")),
    "postToolUse.view": ("read", ToolOutput("hello\n")),
    "postToolUseFailure": ("nosuch", ToolOutput("Tool 'nosuch' does not exist.", is_error=True)),
    "postToolUseFailure.nosuch": ("nosuch", ToolOutput("Tool 'nosuch' does not exist.", is_error=True)),
}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "permissionRequest": ("bash", {"command": "echo treasure > mark; cat mark"}),
    "PermissionRequest": ("bash", {"command": "echo treasure > mark; cat mark"}),
    "permissionRequest.bash.subagent": ("bash", {"command": "echo sub"}),
    "permissionRequest.tiny-echo": ("mcp__tiny__echo", {"text": "hi"}),
}
WHATS: dict[str, What] = {
    "sessionStart": Starting("start"),
    "SessionStart": Starting("start"),
    "userPromptSubmitted": PromptGiven("Do the thing."),
    "UserPromptSubmit": PromptGiven("Do the thing."),
    "userPromptSubmitted.subagent": PromptGiven("SUBTASK"),
    "agentStop": Stopping(again=False),
    "Stop": Stopping(again=False),
    # `subagentStop` follows.
    "agentStop.subagent": Other(),
    "subagentStop": SubagentDone("Sub done.", again=False),
    "sessionEnd": Ending(),
    "SessionEnd": Ending(),
}


def test_it_is_the_codec_of_copilot() -> None:
    codec = codec_of("copilot")
    assert codec.name == "copilot"
    assert isinstance(codec, Copilot)


@pytest.mark.parametrize("one", SAMPLES, ids=str)
def test_every_capture_decodes_to_what_it_means(one: Sample) -> None:
    arrived = CODEC.decode(one.event, one.payload)
    what = arrived.what
    if one.name in COMING:
        assert isinstance(what, CallComing)
        assert (what.call.name, what.call.input, what.more) == (*COMING[one.name], ())
    elif one.name in DONE:
        assert isinstance(what, CallDone)
        assert (what.call.name, what.output, what.more) == (*DONE[one.name], ())
    elif one.name in ASKED:
        assert isinstance(what, PermissionAsked)
        assert (what.call.name, what.call.input, what.more) == (*ASKED[one.name], ())
    else:
        assert what == WHATS.get(one.name, Other())
    subagent = one.payload.get("agentId", one.payload.get("agent_id", ""))
    assert (arrived.event, arrived.session, arrived.workspace, arrived.subagent) == (one.event, "sess_0001", "/home/dev/project", subagent)


def test_every_capture_that_has_a_row_is_among_them() -> None:
    assert set(COMING) | set(DONE) | set(ASKED) | set(WHATS) <= {one.name for one in SAMPLES}


def test_a_payload_that_does_not_name_its_event_needs_the_calls_own() -> None:
    assert "hook_event_name" not in payload("preToolUse")
    with pytest.raises(PayloadInvalid, match="hook_event_name"):
        CODEC.decode("", payload("preToolUse"))


def test_a_resumed_session_and_a_compaction() -> None:
    assert CODEC.decode("sessionStart", payload("sessionStart", source="resume")).what == Starting("resume")
    assert CODEC.decode("preCompact", payload("agentStop", trigger="manual")).what == Compacting("manual")
    assert CODEC.decode("preCompact", payload("agentStop")).what == Compacting("automatic")


def test_a_hook_has_sent_the_model_back_already() -> None:
    assert CODEC.decode("agentStop", payload("agentStop", stop_hook_active=True)).what == Stopping(again=True)


@pytest.mark.parametrize("id", [None, ""])
def test_a_subagent_without_an_id_does_not_end_the_agent(id: str | None) -> None:
    with pytest.raises(PayloadInvalid, match="agentId"):
        CODEC.decode("subagentStop", payload("subagentStop", agentId=id))


def test_a_call_has_the_same_id_before_and_after_it_ran_and_another_in_another_session() -> None:
    before, after = CODEC.decode("preToolUse", payload("preToolUse")).what, CODEC.decode("postToolUse", payload("postToolUse")).what
    other = CODEC.decode("preToolUse", payload("preToolUse", sessionId="sess_0002")).what
    assert isinstance(before, CallComing)
    assert isinstance(after, CallDone)
    assert isinstance(other, CallComing)
    assert before.call.id == after.call.id != other.call.id


@pytest.mark.parametrize(
    ("kind", "words", "output"),
    [
        ("success", "a\n<shellId: 0 completed with exit code 0>", shell_output("a", content="a\n<shellId: 0 completed with exit code 0>")),
        ("success", "<command started in background with shellId: s1>", ToolOutput("<command started in background with shellId: s1>")),
        ("success", "<shellId: 0 completed with exit code 9>\nand more", ToolOutput("<shellId: 0 completed with exit code 9>\nand more")),
        ("failure", "a\n<shellId: 0 completed with exit code 0>", ToolOutput("a\n<shellId: 0 completed with exit code 0>", is_error=True)),
        ("denied", "no", ToolOutput("no", is_error=True)),
        ("success", None, ToolOutput("")),
    ],
)
def test_what_a_command_came_to(kind: str, words: str | None, output: ToolOutput) -> None:
    what = CODEC.decode("postToolUse", payload("postToolUse", toolResult={"resultType": kind, "textResultForLlm": words})).what
    assert isinstance(what, CallDone)
    assert what.output == output


def test_a_long_output_that_looks_like_the_end_of_a_command_takes_no_time() -> None:
    words = "<shellId: 0 completed with exit code 0>" + " " * 1_000 + "x"
    what = CODEC.decode("postToolUse", payload("postToolUse", toolResult={"resultType": "success", "textResultForLlm": words * 5_000})).what
    assert isinstance(what, CallDone)
    assert what.output.shell is None


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-old
+new
*** Delete File: .env
*** End Patch
"""


@pytest.mark.parametrize(("event", "tool", "key"), [("preToolUse", "apply_patch", "toolArgs"), ("PreToolUse", "Edit", "tool_input")])
@pytest.mark.parametrize("wrapped", [True, False])
def test_a_patch_is_a_call_for_every_file_that_it_touches(event: str, tool: str, key: str, *, wrapped: bool) -> None:
    names = {"toolArgs": "toolName", "tool_input": "tool_name"}
    given = {"input": PATCH} if wrapped else PATCH
    what = CODEC.decode(event, payload(event) | {names[key]: tool, key: given}).what
    assert isinstance(what, CallComing)
    assert [(call.name, call.input["path"]) for call in (what.call, *what.more)] == [("edit", "src/a.py"), ("write", ".env")]
    assert len({call.id for call in (what.call, *what.more)}) == 2


@pytest.mark.parametrize("patch", ["", "rm -rf /", "*** Begin Patch\n*** End Patch"])
def test_a_patch_that_cannot_be_read_is_invalid(patch: str) -> None:
    with pytest.raises(PayloadInvalid, match="toolArgs"):
        CODEC.decode("preToolUse", payload("preToolUse.apply_patch", toolArgs=patch))


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("my-server-some_tool", "mcp__my-server__some_tool"),
        ("tiny/echo", "mcp__tiny__echo"),
        ("read_bash", "read_bash"),
        ("-x", "-x"),
        ("x-", "x-"),
    ],
)
def test_a_tool_of_an_mcp_server_is_known_by_its_sign(tool: str, name: str) -> None:
    what = CODEC.decode("preToolUse", payload("preToolUse", toolName=tool)).what
    assert isinstance(what, CallComing)
    assert what.call.name == name


def test_what_is_typed_into_a_command_that_runs_is_a_command() -> None:
    typed = {"shellId": "s1", "input": "rm treasure{enter}", "delay": 1}
    arrived = CODEC.decode("preToolUse", payload("preToolUse", toolName="write_bash", toolArgs=typed))
    assert isinstance(arrived.what, CallComing)
    assert (arrived.what.call.name, arrived.what.call.input["command"]) == ("bash", "rm treasure{enter}")
    assert CODEC.encode(arrived, RunRewritten(arrived.what.call.input)) == {"modifiedArgs": typed}


TOOLS = ["bash", "write_bash", "view", "create", "edit", "str_replace", "grep", "rg", "glob", "task", "tiny-echo", "web_fetch"]
OWN_KEYS = ["command", "path", "paths", "file_text", "content", "old_str", "old", "new_str", "new", "prompt", "task", "view_range", "input"]


@settings(deadline=None)
@given(tool=st.sampled_from(TOOLS), value=st.dictionaries(st.sampled_from(OWN_KEYS) | st.text(max_size=9), JSON, max_size=6))
def test_an_input_that_nobody_rewrites_comes_back_as_it_was(tool: str, value: dict[str, Any]) -> None:
    try:
        arrived = CODEC.decode("preToolUse", payload("preToolUse", toolName=tool, toolArgs=value))
    except PayloadInvalid:
        # Two keys that are one to us.
        return
    assert isinstance(arrived.what, CallComing)
    answer = CODEC.encode(arrived, RunRewritten(arrived.what.call.input))
    if value.keys() == {"input"}:
        assert answer["permissionDecision"] == "deny"
    else:
        assert answer == {"modifiedArgs": value}


@pytest.mark.parametrize("event", ["somethingNew", "PreMcpToolCall"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, payload("preToolUse")).what == Other()


def test_fields_that_are_not_known_are_let_be() -> None:
    assert CODEC.decode("preToolUse", payload("preToolUse", new=[1])) == CODEC.decode("preToolUse", payload("preToolUse"))


@pytest.mark.parametrize("key", ["sessionId", "cwd", "toolName", "toolArgs"])
@pytest.mark.parametrize("bad", [None, 7, [], True])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str, bad: Any) -> None:
    for broken in ({name: value for name, value in payload("preToolUse").items() if name != key}, payload("preToolUse", **{key: bad})):
        with pytest.raises(PayloadInvalid, match=key):
            CODEC.decode("preToolUse", broken)


def test_a_call_for_another_event_is_invalid() -> None:
    with pytest.raises(PayloadInvalid, match="hook_event_name"):
        CODEC.decode("PreToolUse", payload("PostToolUse"))


@settings(deadline=None)
@given(data=st.data(), one=st.sampled_from(SAMPLES))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, one: Sample) -> None:
    answer = data.draw(st.sampled_from([Refused("R"), Patched("new", is_error=False), RunRewritten({"command": "ls"}), GoOn("G")]))
    try:
        encoded = CODEC.encode(CODEC.decode(one.event, data.draw(spoiled(one.payload))), answer)
    except PayloadInvalid as invalid:
        encoded = CODEC.refuse(one.event, str(invalid))
    assert honours(HONOURED["copilot"], one.event, encoded)
