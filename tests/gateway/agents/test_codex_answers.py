"""Codex: every answer is one of those that HONOURED.md (section 3, Codex) lists for its event."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.agents.captured import Captured, event_of
from tests.gateway.drawn import ANSWERS, INPUTS, TEXTS, spoiled
from tests.gateway.honoured_codex_gemini import codex_honours
from treblehook.gateway.agents.codex import Codex
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    AskUser,
    CallComing,
    GoOn,
    Granted,
    Patched,
    Refused,
    RunRewritten,
)

capture = Captured("codex")
CODEC: Codec = Codex()


def denied(reason: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}}


def blocked(reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


def permitted(**decision: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def context(event: str, words: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": words}}


OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in Codex. Make it again with this one: "
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    # SessionStart: "additionalContext ...; continue:false | developer message; ends before any request".
    ("context at the start", "SessionStart.json", AddText("C"), context("SessionStart", "C")),
    ("blank context", "SessionStart.json", AddText(" "), {}),
    ("session refused", "SessionStart.json", Refused("R"), {"continue": False, "stopReason": "R"}),
    # UserPromptSubmit: "block ... | no request; additionalContext = developer message".
    ("context at a prompt", "UserPromptSubmit.json", AddText("C"), context("UserPromptSubmit", "C")),
    ("prompt refused", "UserPromptSubmit.json", Refused("R"), blocked("R")),
    ("no reason", "UserPromptSubmit.json", Refused(""), blocked("A hook refused this.")),
    # PreToolUse: "deny | output 'Command blocked by PreToolUse hook: R'"; section 2: "deny without a reason: RUNS".
    ("call refused", "PreToolUse.json", Refused("R"), denied("R")),
    ("call refused, no reason", "PreToolUse.json", Refused(" \n"), denied("A hook refused this.")),
    (
        "call replaced",
        "PreToolUse.json",
        Refused("42", replaced=True),
        denied("The tool was not run; a hook answered in its place. This is the result:\n42"),
    ),
    # "ask ... | ignored, runs".
    (
        "user asked",
        "PreToolUse.json",
        AskUser("W."),
        denied("W. Codex lets no hook ask, so this was not run. The user can allow it by a rule of Treblehook."),
    ),
    # "allow + updatedInput:{command:C} | used; without allow ignored".
    (
        "command rewritten",
        "PreToolUse.json",
        RunRewritten({"command": "ls"}),
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "ls"}}},
    ),
    # "{cmd:C} = error to the model, not run": no other key is ever sent.
    (
        "another key",
        "PreToolUse.json",
        RunRewritten({"command": "ls", "timeout_ms": 1}),
        denied(OTHER_INPUT + '{"command":"ls","timeout_ms":1}'),
    ),
    ("command gone", "PreToolUse.json", RunRewritten({}), denied(OTHER_INPUT + "{}")),
    ("command no text", "PreToolUse.json", RunRewritten({"command": 1}), denied(OTHER_INPUT + '{"command":1}')),
    # PermissionRequest: "decision:{behavior:allow} / {behavior:deny,message:M} | approved / model sees Rejected".
    ("granted", "PermissionRequest.json", Granted(), permitted(behavior="allow")),
    ("not granted", "PermissionRequest.json", Refused("R"), permitted(behavior="deny", message="R")),
    # PostToolUse: "decision:block + reason | replaces the output by R. No reason = ignored".
    ("patched", "PostToolUse.json", Patched("new", is_error=False), blocked("new")),
    ("patched by an error", "PostToolUse.json", Patched("bad", is_error=True), blocked("bad")),
    ("emptied", "PostToolUse.json", Patched("", is_error=False), blocked("(empty)")),
    # Stop, SubagentStop: "block | user message".
    ("sent back", "Stop.json", GoOn("G"), blocked("G")),
    ("sent back without a word", "Stop.json", GoOn(""), blocked("A hook wants you to go on.")),
    ("subagent sent back", "SubagentStop.json", GoOn("G"), blocked("G")),
    # Nothing can be said, or nothing is to be said.
    ("compaction", "PreCompact.json", NO_OPINION, {}),
    ("end", "SessionEnd.json", NO_OPINION, {}),
    ("observed only", "PreModelRequest.json", Refused("R"), {}),
]


@pytest.mark.parametrize(("name", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_codex_honours(name: str, answer: Answer, wire: dict[str, Any]) -> None:
    encoded = CODEC.encode(CODEC.decode(event_of(name), capture(name)), answer)
    assert encoded == wire
    assert codex_honours(event_of(name), encoded)


@pytest.mark.parametrize("name", capture.names)
def test_no_opinion_is_an_empty_object(name: str) -> None:
    assert CODEC.encode(CODEC.decode(event_of(name), capture(name)), NO_OPINION) == {}


def test_a_call_of_another_tool_cannot_be_rewritten() -> None:
    payload = capture("PreToolUse.json") | {"tool_name": "spawn_agent", "tool_input": {"message": "dig"}}
    encoded = CODEC.encode(CODEC.decode("PreToolUse", payload), RunRewritten({"task": "do not dig"}))
    assert encoded == denied(OTHER_INPUT + '{"message":"do not dig"}')


@given(rewritten=INPUTS)
def test_a_patch_is_never_rewritten(rewritten: dict[str, Any]) -> None:
    given = {"command": "*** Begin Patch\n*** Add File: a\n*** Delete File: b\n*** End Patch"}
    payload = capture("PreToolUse.json") | {"tool_name": "apply_patch", "tool_input": given}
    encoded = CODEC.encode(CODEC.decode("PreToolUse", payload), RunRewritten(rewritten))
    assert encoded["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_huge_input_is_not_told_as_a_whole() -> None:
    payload = capture("PreToolUse.json") | {"tool_name": "other", "tool_input": {}}
    encoded = CODEC.encode(CODEC.decode("PreToolUse", payload), RunRewritten({"text": "x" * 1_000_000}))
    assert len(encoded["hookSpecificOutput"]["permissionDecisionReason"]) < 30_000


@given(name=st.sampled_from(capture.names), answer=ANSWERS)
def test_whatever_hooks_answer_is_said_in_a_listed_shape(name: str, answer: Answer) -> None:
    encoded = CODEC.encode(CODEC.decode(event_of(name), capture(name)), answer)
    assert codex_honours(event_of(name), encoded)


@given(name=st.sampled_from(capture.names), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(name: str, reason: str) -> None:
    assert codex_honours(event_of(name), CODEC.refuse(event_of(name), reason))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R")


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "SessionEnd", "SomethingNew", ""])
def test_where_there_is_nothing_to_guard_nothing_is_said(event: str) -> None:
    assert CODEC.refuse(event, "R") == {}


@given(tool=st.sampled_from(["Bash", "spawn_agent", "mcp__s__t"]), value=st.dictionaries(st.text(), TEXTS, max_size=4))
def test_an_input_that_nobody_rewrites_comes_back_as_it_was(tool: str, value: dict[str, Any]) -> None:
    payload = capture("PreToolUse.json") | {"tool_name": tool, "tool_input": value}
    try:
        what = CODEC.decode("PreToolUse", payload).what
    except PayloadInvalid:
        # Two keys that are one to us.
        assert {"message", "task"} <= value.keys()
        return
    assert isinstance(what, CallComing)
    arrived = CODEC.decode("PreToolUse", payload)
    encoded = CODEC.encode(arrived, RunRewritten(what.call.input))["hookSpecificOutput"]
    if encoded["permissionDecision"] == "allow":
        assert {**value, **encoded["updatedInput"]} == value
    elif len(encoded["permissionDecisionReason"]) < 20_000:
        assert json.loads(encoded["permissionDecisionReason"].removeprefix(OTHER_INPUT)) == value


@given(data=st.data(), name=st.sampled_from(capture.names))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, name: str) -> None:
    event = event_of(name)
    try:
        answer = CODEC.encode(CODEC.decode(event, data.draw(spoiled(capture(name)))), Refused("R"))
    except PayloadInvalid as invalid:
        answer = CODEC.refuse(event, str(invalid))
    assert codex_honours(event, answer)


@pytest.mark.parametrize("key", ["session_id", "cwd", "tool_name", "tool_input"])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str) -> None:
    payload = capture("PreToolUse.json")
    del payload[key]
    with pytest.raises(PayloadInvalid, match=key):
        CODEC.decode("PreToolUse", payload)
