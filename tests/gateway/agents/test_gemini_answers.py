"""Gemini CLI: every answer is one of those that HONOURED.md (section 3, Gemini CLI) lists for its event."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.agents.captured import Captured, event_of
from tests.gateway.drawn import ANSWERS, JSON, TEXTS, spoiled
from tests.gateway.honoured_codex_gemini import gemini_honours
from treblehook.gateway.agents.gemini import Gemini
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    AskUser,
    CallComing,
    GoOn,
    Patched,
    Refused,
    RunRewritten,
)

capture = Captured("gemini")
CODEC: Codec = Gemini()


def denied(reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}


def context(event: str, words: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": words}}


def rewritten(**given: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": given}}


ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    # SessionStart: "additionalContext | put before the prompt; plain text, exit 2, continue:false ignored".
    ("context at the start", "SessionStart.json", AddText("C"), context("SessionStart", "C")),
    ("session refused", "SessionStart.json", Refused("R"), {}),
    # BeforeAgent: "deny | no request; additionalContext = extra user part".
    ("context at a prompt", "BeforeAgent.json", AddText("C"), context("BeforeAgent", "C")),
    ("blank context", "BeforeAgent.json", AddText(""), {}),
    ("prompt refused", "BeforeAgent.json", Refused("R"), denied("R")),
    # BeforeTool: "decision:deny, reason:R | functionResponse error 'Tool execution blocked: R'".
    ("call refused", "BeforeTool.json", Refused("R"), denied("R")),
    ("call refused, no reason", "BeforeTool.json", Refused(""), denied("A hook refused this.")),
    (
        "call replaced",
        "BeforeTool.json",
        Refused("42", replaced=True),
        denied("The tool was not run; a hook answered in its place. This is the result:\n42"),
    ),
    # Section 2: "ask, headless | HANG".
    (
        "user asked",
        "BeforeTool.json",
        AskUser("W."),
        denied("W. Gemini CLI lets no hook ask, so this was not run. The user can allow it by a rule of Treblehook."),
    ),
    # "hookSpecificOutput.tool_input:{...} | merged into the arguments".
    (
        "command rewritten",
        "BeforeTool.json",
        RunRewritten({"command": "ls", "description": "x"}),
        rewritten(command="ls", description="x"),
    ),
    (
        "key added",
        "BeforeTool.json",
        RunRewritten({"command": "ls", "description": "x", "dir_path": "/"}),
        rewritten(command="ls", description="x", dir_path="/"),
    ),
    # Merged: a key that hooks took away would still be there.
    (
        "key taken away",
        "BeforeTool.json",
        RunRewritten({"command": "ls"}),
        denied(
            "Hooks want this call to be made with another input, which they cannot set in Gemini CLI. "
            'Make it again with this one: {"command":"ls"}'
        ),
    ),
    # AfterTool: "deny | result replaced by an error R".
    ("patched", "AfterTool.json", Patched("new", is_error=False), denied("new")),
    ("patched by an error", "AfterTool.json", Patched("bad", is_error=True), denied("bad")),
    ("emptied", "AfterTool.json", Patched("", is_error=False), denied("(empty)")),
    # AfterAgent: "deny | R is the next user message".
    ("sent back", "AfterAgent.json", GoOn("G"), denied("G")),
    ("sent back without a word", "AfterAgent.json", GoOn(" "), denied("A hook wants you to go on.")),
    # Nothing can be said, or nothing is to be said.
    ("compaction", "PreCompress.json", Refused("R"), {}),
    ("end", "SessionEnd.json", NO_OPINION, {}),
    ("model request", "BeforeModel.json", Refused("R"), {}),
]


@pytest.mark.parametrize(("name", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_gemini_honours(name: str, answer: Answer, wire: dict[str, Any]) -> None:
    encoded = CODEC.encode(CODEC.decode(event_of(name), capture(name)), answer)
    assert encoded == wire
    assert gemini_honours(event_of(name), encoded)


@pytest.mark.parametrize("name", capture.names)
def test_no_opinion_is_an_empty_object(name: str) -> None:
    assert CODEC.encode(CODEC.decode(event_of(name), capture(name)), NO_OPINION) == {}


@pytest.mark.parametrize("key", ["file_path", "absolute_path"])
def test_a_rewritten_path_goes_back_under_the_name_that_it_had(key: str) -> None:
    payload = capture("BeforeTool.json") | {"tool_name": "read_file", "tool_input": {key: "a", "start_line": 1}}
    encoded = CODEC.encode(CODEC.decode("BeforeTool", payload), RunRewritten({"path": "b", "offset": 1}))
    assert encoded == rewritten(**{key: "b", "start_line": 1})


def test_a_path_that_hooks_add_has_the_name_of_today() -> None:
    payload = capture("BeforeTool.json") | {"tool_name": "read_file", "tool_input": {}}
    encoded = CODEC.encode(CODEC.decode("BeforeTool", payload), RunRewritten({"path": "b"}))
    assert encoded == rewritten(file_path="b")


def test_an_input_in_which_two_keys_would_become_one_is_not_run() -> None:
    """The gate has seen `path`; Gemini would read `file_path`."""
    payload = capture("BeforeTool.json") | {"tool_name": "write_file", "tool_input": {"file_path": "a", "content": ""}}
    encoded = CODEC.encode(CODEC.decode("BeforeTool", payload), RunRewritten({"path": "a", "content": "", "file_path": "/etc/passwd"}))
    assert encoded["decision"] == "deny"


@given(name=st.sampled_from(capture.names), answer=ANSWERS)
def test_whatever_hooks_answer_is_said_in_a_listed_shape(name: str, answer: Answer) -> None:
    encoded = CODEC.encode(CODEC.decode(event_of(name), capture(name)), answer)
    assert gemini_honours(event_of(name), encoded)


@given(name=st.sampled_from(capture.names), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(name: str, reason: str) -> None:
    assert gemini_honours(event_of(name), CODEC.refuse(event_of(name), reason))


@pytest.mark.parametrize("event", ["BeforeAgent", "BeforeTool", "AfterTool"])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R") == denied("R")


@pytest.mark.parametrize("event", ["SessionStart", "AfterAgent", "PreCompress", "SessionEnd", "BeforeModel", "SomethingNew", ""])
def test_where_nothing_can_be_stopped_nothing_is_said(event: str) -> None:
    assert CODEC.refuse(event, "R") == {}


KEYS = st.sampled_from(
    [
        "path",
        "old",
        "task",
        "file_path",
        "absolute_path",
        "old_string",
        "new_string",
        "content",
        "dir_path",
        "command",
        "prompt",
        "start_line",
    ]
)
TOOLS = st.sampled_from(["run_shell_command", "read_file", "write_file", "replace", "glob", "grep_search", "invoke_agent", "other"])


@given(tool=TOOLS, value=st.dictionaries(KEYS | st.text(max_size=4), JSON, max_size=5))
def test_an_input_that_nobody_rewrites_comes_back_as_it_was(tool: str, value: dict[str, Any]) -> None:
    payload = capture("BeforeTool.json") | {"tool_name": tool, "tool_input": value}
    try:
        arrived = CODEC.decode("BeforeTool", payload)
    except PayloadInvalid:
        return
    assert isinstance(arrived.what, CallComing)
    assert CODEC.encode(arrived, RunRewritten(arrived.what.call.input)) == rewritten(**value)


@given(data=st.data(), name=st.sampled_from(capture.names))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, name: str) -> None:
    event = event_of(name)
    try:
        answer = CODEC.encode(CODEC.decode(event, data.draw(spoiled(capture(name)))), Refused("R"))
    except PayloadInvalid as invalid:
        answer = CODEC.refuse(event, str(invalid))
    assert gemini_honours(event, answer)


@pytest.mark.parametrize("key", ["session_id", "cwd", "tool_name", "tool_input"])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str) -> None:
    payload = capture("BeforeTool.json")
    del payload[key]
    with pytest.raises(PayloadInvalid, match=key):
        CODEC.decode("BeforeTool", payload)
