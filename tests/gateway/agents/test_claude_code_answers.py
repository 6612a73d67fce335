"""Claude Code: every answer is what HONOURED.md (section 3, Claude Code) lists for its event."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.drawn import INPUTS, JSON, TEXTS
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import Sample, sample, samples
from treblehook.gateway.agents.claude_code import ClaudeCode
from treblehook.gateway.codec import Codec
from treblehook.gateway.values import NO_OPINION, AddText, Answer, AskUser, CallDone, GoOn, Granted, Patched, Refused, RunRewritten

CODEC: Codec = ClaudeCode()


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("claude", name).payload | changed


def test_a_rewrite_holds_the_whole_input_under_the_agents_own_keys() -> None:
    sent = payload(
        "PreToolUse", tool_name="Edit", tool_input={"file_path": "/x", "old_string": "a", "new_string": "b", "replace_all": True}
    )
    answer = CODEC.encode(CODEC.decode("PreToolUse", sent), RunRewritten({"path": "/y", "old": "a", "new": "c", "replace_all": True}))
    own = {"file_path": "/y", "old_string": "a", "new_string": "c", "replace_all": True}
    assert answer == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": own}}


def test_a_key_that_a_hook_adds_gets_the_agents_own_name() -> None:
    answer = CODEC.encode(
        CODEC.decode("PreToolUse", payload("PreToolUse")), RunRewritten({**payload("PreToolUse")["tool_input"], "timeout_ms": 1000})
    )
    assert answer["hookSpecificOutput"]["updatedInput"] == {**payload("PreToolUse")["tool_input"], "timeout": 1000}


@pytest.mark.parametrize("ask", [False, True])
def test_a_rewrite_with_two_values_for_one_key_is_denied(*, ask: bool) -> None:
    given = {"path": "/x", "file_path": "/y"}
    arrived = CODEC.decode("PreToolUse", payload("PreToolUse", tool_name="Write", tool_input={"file_path": "/x", "content": "c"}))
    answer = CODEC.encode(arrived, AskUser("W", given) if ask else RunRewritten(given))
    assert answer == denied(OTHER + 'Claude Code. Make it again with this one: {"path":"/x","file_path":"/y"}')


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def denied(reason: str, event: str = "PreToolUse") -> dict[str, Any]:
    return specific(event, permissionDecision="deny", permissionDecisionReason=reason)


def blocked(reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


REPLACED = "The tool was not run; a hook answered in its place. This is the result:\n42"
OTHER = "Hooks want this call to be made with another input, which they cannot set in "
REFUSED_SESSION = "This session is refused, and so is everything that it asks for: R"
UNASKED = "W. A skill or slash command lets no hook ask, so this was not run. The user can allow it by a rule of Treblehook."
GLOBBED = json.dumps(payload("PostToolUse.Glob")["tool_response"], separators=(",", ":"))
BASH_RESULT = {"stdout": "new", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    # SessionStart: "additionalContext | in the system message; exit 2 and continue:false ignored".
    ("context at the start", "SessionStart", AddText("C"), specific("SessionStart", additionalContext="C")),
    ("blank context", "SessionStart", AddText(" \n"), {}),
    ("session refused", "SessionStart", Refused("R"), specific("SessionStart", additionalContext=REFUSED_SESSION)),
    # UserPromptSubmit: "decision:block | no model request; additionalContext | in the request's system message".
    ("context at a prompt", "UserPromptSubmit", AddText("C\nD"), specific("UserPromptSubmit", additionalContext="C\nD")),
    ("prompt refused", "UserPromptSubmit", Refused("R"), blocked("R")),
    ("prompt refused, no reason", "UserPromptSubmit", Refused(""), blocked("A hook refused this.")),
    # PreToolUse: section 2.
    ("call refused", "PreToolUse", Refused("R"), denied("R")),
    ("call refused, no reason", "PreToolUse", Refused(" \n"), denied("A hook refused this.")),
    ("half a surrogate pair", "PreToolUse", Refused("R\ud800"), denied("R?")),
    ("call replaced", "PreToolUse", Refused("42", replaced=True), denied(REPLACED)),
    ("user asked", "PreToolUse", AskUser("W"), specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="W")),
    (
        "user asked, no reason",
        "PreToolUse",
        AskUser(""),
        specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="A hook wants the user asked."),
    ),
    (
        "user asked about another input",
        "PreToolUse",
        AskUser("W", {"command": "ls"}),
        specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="W", updatedInput={"command": "ls"}),
    ),
    # "updatedInput:{whole input}, with or without allow | used; permission is then asked for the new input".
    ("rewritten", "PreToolUse", RunRewritten({"command": "ls"}), specific("PreToolUse", updatedInput={"command": "ls"})),
    # A skill's command: `ask` and updatedInput do not let it run either.
    ("skill refused", "PreSkillShellCommand", Refused("R"), denied("R", "PreSkillShellCommand")),
    ("skill asked", "PreSkillShellCommand", AskUser("W."), denied(UNASKED, "PreSkillShellCommand")),
    (
        "skill rewritten",
        "PreSkillShellCommand",
        RunRewritten({"command": "ls"}),
        denied(OTHER + 'a skill or slash command. Make it again with this one: {"command":"ls"}', "PreSkillShellCommand"),
    ),
    # PermissionRequest: "decision:{behavior:allow} | runs; {behavior:deny,message:M} | tool_result M".
    ("granted", "PermissionRequest", Granted(), specific("PermissionRequest", decision={"behavior": "allow"})),
    ("not granted", "PermissionRequest", Refused("R"), specific("PermissionRequest", decision={"behavior": "deny", "message": "R"})),
    # PostToolUse: "updatedToolOutput | replaces, if it has the tool's output shape. A string or partial object is ignored silently".
    ("command patched", "PostToolUse", Patched("new", is_error=False), specific("PostToolUse", updatedToolOutput=BASH_RESULT)),
    (
        "command patched by an error",
        "PostToolUse",
        Patched("new", is_error=True),
        specific("PostToolUse", updatedToolOutput=BASH_RESULT | {"stdout": "Error: new"}),
    ),
    (
        "command emptied",
        "PostToolUse",
        Patched("", is_error=False),
        specific("PostToolUse", updatedToolOutput=BASH_RESULT | {"stdout": ""}),
    ),
    (
        "file patched",
        "PostToolUse.Read",
        Patched("a\nb\nc", is_error=False),
        specific(
            "PostToolUse",
            updatedToolOutput={
                "type": "text",
                "file": {"filePath": "/home/dev/other/one.txt", "content": "a\nb\nc", "numLines": 3, "startLine": 1, "totalLines": 2},
            },
        ),
    ),
    (
        "MCP result patched",
        "PostToolUse.mcp__tiny__echo",
        Patched("new", is_error=False),
        specific("PostToolUse", updatedToolOutput=[{"type": "text", "text": "new"}]),
    ),
    (
        "MCP result emptied",
        "PostToolUse.mcp__tiny__echo",
        Patched("", is_error=False),
        specific("PostToolUse", updatedToolOutput=[{"type": "text", "text": "(empty)"}]),
    ),
    # "additionalContext | system message; continue:false | ends the run".
    (
        "another result added to",
        "PostToolUse.Glob",
        Patched(GLOBBED + "\n\nmind the gap", is_error=False),
        specific("PostToolUse", additionalContext="mind the gap"),
    ),
    (
        "another result patched",
        "PostToolUse.Glob",
        Patched("none", is_error=False),
        {
            "continue": False,
            "stopReason": "Hooks changed the result of Glob, which they cannot in Claude Code. This is what they made of it: none",
        },
    ),
    # PostToolUseFailure: "additionalContext, block, exit 2 | as PostToolUse"; nothing replaces the error.
    (
        "an error added to",
        "PostToolUseFailure",
        Patched("Exit code 3\noops\nask the janitor", is_error=True),
        specific("PostToolUseFailure", additionalContext="ask the janitor"),
    ),
    (
        "an error patched",
        "PostToolUseFailure",
        Patched("all is well", is_error=False),
        specific("PostToolUseFailure", additionalContext="Hooks put this in place of the error: all is well"),
    ),
    (
        "an error that is none",
        "PostToolUseFailure",
        Patched("Exit code 3\noops", is_error=False),
        specific("PostToolUseFailure", additionalContext="Hooks count this result as no error."),
    ),
    # Stop, SubagentStop: "block | goes on".
    ("sent back", "Stop", GoOn("G"), blocked("G")),
    ("sent back without a word", "Stop", GoOn(""), blocked("A hook wants you to go on.")),
    ("subagent sent back", "SubagentStop", GoOn("G"), blocked("G")),
    # Nothing can be said, or nothing is to be said.
    ("compaction", "PreCompact", NO_OPINION, {}),
    ("end", "SessionEnd", NO_OPINION, {}),
    ("observed only", "PostToolBatch", Refused("R"), {}),
]


@pytest.mark.parametrize(("name", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_claude_code_honours(name: str, answer: Answer, wire: dict[str, Any]) -> None:
    one = sample("claude", name)
    encoded = CODEC.encode(CODEC.decode(one.event, one.payload), answer)
    assert encoded == wire
    assert honours(HONOURED["claude-code"], one.event, encoded)


def test_a_patched_command_in_the_background_keeps_its_id() -> None:
    response = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False, "backgroundTaskId": "b1"}
    arrived = CODEC.decode("PostToolUse", payload("PostToolUse", tool_response=response))
    assert CODEC.encode(arrived, Patched("new", is_error=False)) == specific("PostToolUse", updatedToolOutput={**response, "stdout": "new"})


PICTURE = [{"type": "text", "text": "a map"}, {"type": "image", "source": {"data": "..."}}]


@pytest.mark.parametrize(
    ("content", "wire"),
    [
        ("a map\n[image]\nmind the gap", specific("PostToolUse", additionalContext="mind the gap")),
        ("redacted", specific("PostToolUse", updatedToolOutput=[{"type": "text", "text": "redacted"}])),
    ],
)
def test_a_picture_is_lost_only_where_hooks_replace_the_whole_result(content: str, wire: dict[str, Any]) -> None:
    sent = payload("PostToolUse.mcp__tiny__echo", tool_response=PICTURE)
    assert CODEC.encode(CODEC.decode("PostToolUse", sent), Patched(content, is_error=False)) == wire


@pytest.mark.parametrize("kind", ["image", "notebook"])
def test_text_stands_in_the_place_of_a_picture_or_a_notebook(kind: str) -> None:
    """Seen in Claude Code 2.1.332: the model gets the text, and nothing of the file."""
    sent = payload("PostToolUse.Read") | {"tool_response": {"type": kind, "file": {"base64": "c2VjcmV0"}}}
    answer = CODEC.encode(CODEC.decode("PostToolUse", sent), Patched("two\nlines", is_error=False))
    file = {"filePath": sent["tool_input"]["file_path"], "content": "two\nlines", "numLines": 2, "startLine": 1, "totalLines": 2}
    assert answer == specific("PostToolUse", updatedToolOutput={"type": "text", "file": file})


@pytest.mark.parametrize("missing", ["filePath", "startLine", "totalLines"])
def test_a_file_whose_shape_is_not_known_is_not_patched_in_vain(missing: str) -> None:
    sent = payload("PostToolUse.Read")
    file = {key: value for key, value in sent["tool_response"]["file"].items() if key != missing}
    arrived = CODEC.decode("PostToolUse", sent | {"tool_response": {"type": "text", "file": file}})
    assert CODEC.encode(arrived, Patched("new", is_error=False))["continue"] is False


@pytest.mark.parametrize(
    "answer", [RunRewritten({"path": "/y", "old": "a", "new": "z"}), AskUser("W", {"path": "/y", "old": "a", "new": "z"})]
)
def test_a_multi_edit_is_not_rewritten_in_part(answer: Answer) -> None:
    sent = payload("PreToolUse", tool_name="MultiEdit", tool_input={"file_path": "/x", "edits": [{"old_string": "a", "new_string": "b"}]})
    encoded = CODEC.encode(CODEC.decode("PreToolUse", sent), answer)
    assert encoded == denied(OTHER + 'MultiEdit. Make it again with this one: {"file_path":"/y","old":"a","new":"z"}')


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "PreSkillShellCommand", "PermissionRequest", "PostToolUse"])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R")


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "SubagentStop", "PreCompact", "SessionEnd", "SomethingNew", ""])
def test_where_there_is_nothing_to_guard_nothing_is_said(event: str) -> None:
    assert CODEC.refuse(event, "R") == {}


@given(event=st.sampled_from([hooked.name for hooked in CODEC.hooked]), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(event: str, reason: str) -> None:
    assert honours(HONOURED["claude-code"], event, CODEC.refuse(event, reason))


DONE = [one for folder in ("claude", "claude-agent-sdk") for one in samples(folder) if one.event.startswith("PostToolUse")]


@settings(deadline=None)
@given(st.sampled_from(DONE), st.none() | JSON, TEXTS, st.booleans(), st.sampled_from(["instead", "before", "after"]))
def test_whatever_hooks_make_of_a_result_is_honoured(one: Sample, response: Any, text: str, is_error: bool, where: str) -> None:
    arrived = CODEC.decode(one.event, one.payload if response is None else {**one.payload, "tool_response": response})
    assert isinstance(arrived.what, CallDone)
    before = arrived.what.output.content
    content = {"instead": text, "before": text + before, "after": before + text}[where]
    assert honours(HONOURED["claude-code"], one.event, CODEC.encode(arrived, Patched(content, is_error)))


OWN_KEYS = st.dictionaries(st.sampled_from(["file_path", "path", "notebook_path", "old_string", "old", "new_source", "new"]), JSON)


@settings(deadline=None)
@given(
    st.sampled_from(["PreToolUse", "PreSkillShellCommand"]),
    st.sampled_from(["Bash", "Read", "Edit", "NotebookEdit", "mcp__a__b"]),
    st.sampled_from([{}, {"file_path": "/x"}, {"path": "/x"}, {"notebook_path": "/x", "new_source": "b"}]),
    INPUTS | OWN_KEYS,
    st.none() | TEXTS,
)
def test_whatever_input_hooks_want_is_honoured(
    event: str, tool: str, given: dict[str, Any], wanted: dict[str, Any], question: str | None
) -> None:
    arrived = CODEC.decode(event, payload(event, tool_name=tool, tool_input=given))
    answer = RunRewritten(wanted) if question is None else AskUser(question, wanted)
    assert honours(HONOURED["claude-code"], event, CODEC.encode(arrived, answer))
