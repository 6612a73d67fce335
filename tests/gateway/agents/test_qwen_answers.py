"""Qwen Code: every answer is what HONOURED.md (sections 2 and 3, Qwen Code) lists for its event."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.drawn import TEXTS
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import sample
from treblehook.gateway.agents.qwen import Qwen
from treblehook.gateway.codec import Codec
from treblehook.gateway.values import NO_OPINION, AddText, Answer, AskUser, GoOn, Granted, Patched, Refused, RunRewritten

CODEC: Codec = Qwen()


def payload(name: str, **changed: Any) -> dict[str, Any]:
    return sample("qwen", name).payload | changed


OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in Qwen Code. Make it again with this one: "
RAN = payload("PostToolUse")["tool_response"]["llmContent"]
FAILED = payload("PostToolUseFailure")["error"]


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def denied(reason: str) -> dict[str, Any]:
    return specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)


def blocked(reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


REPLACED = "The tool was not run; a hook answered in its place. This is the result:\n42"
REFUSED_SESSION = "This session is refused, and so is everything that it asks for: R"
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    # "SessionStart and UserPromptSubmit additionalContext arrive in <qwen:...-context> tags".
    ("context at the start", "SessionStart", AddText("C"), specific("SessionStart", additionalContext="C")),
    ("session refused", "SessionStart", Refused("R"), specific("SessionStart", additionalContext=REFUSED_SESSION)),
    ("context at a prompt", "UserPromptSubmit", AddText("C"), specific("UserPromptSubmit", additionalContext="C")),
    ("blank context", "UserPromptSubmit", AddText("\n"), {}),
    # "UserPromptSubmit block, exit 2: no request".
    ("prompt refused", "UserPromptSubmit", Refused(""), blocked("A hook refused this.")),
    ("tool results are no prompt", "UserPromptSubmit.tool-results", AddText("C"), {}),
    # The deny matrix; "updatedInput and PreToolUse additionalContext ignored".
    ("call refused", "PreToolUse", Refused("R"), denied("R")),
    ("call refused, no reason", "PreToolUse", Refused(" "), denied("A hook refused this.")),
    ("call replaced", "PreToolUse", Refused("42", replaced=True), denied(REPLACED)),
    ("user asked", "PreToolUse", AskUser("W"), specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="W")),
    ("rewritten", "PreToolUse", RunRewritten({"command": "ls"}), denied(OTHER_INPUT + '{"command":"ls"}')),
    ("rewritten and asked", "PreToolUse", AskUser("W", {"command": "ls"}), denied(OTHER_INPUT + '{"command":"ls"}')),
    (
        "rewritten under its own keys",
        "PreToolUse.write_file",
        RunRewritten({"path": "/y", "content": "c"}),
        denied(OTHER_INPUT + '{"file_path":"/y","content":"c"}'),
    ),
    (
        "two values for one key",
        "PreToolUse.write_file",
        RunRewritten({"path": "/x", "file_path": "/y"}),
        denied(OTHER_INPUT + '{"path":"/x","file_path":"/y"}'),
    ),
    # "PostToolUse: additionalContext is appended to the output, continue:false replaces it by stopReason".
    ("added to", "PostToolUse", Patched(RAN + "\nmind the gap", is_error=False), specific("PostToolUse", additionalContext="mind the gap")),
    ("patched", "PostToolUse", Patched("new", is_error=False), {"continue": False, "stopReason": "new"}),
    ("emptied", "PostToolUse", Patched("", is_error=False), {"continue": False, "stopReason": "(empty)"}),
    (
        "counted as an error",
        "PostToolUse",
        Patched(RAN, is_error=True),
        specific("PostToolUse", additionalContext="Hooks count this result as an error."),
    ),
    (
        "an error patched",
        "PostToolUseFailure",
        Patched("new", is_error=False),
        specific("PostToolUseFailure", additionalContext="Hooks put this in place of the error: new"),
    ),
    (
        "an error added to",
        "PostToolUseFailure",
        Patched("seen before: " + FAILED, is_error=True),
        specific("PostToolUseFailure", additionalContext="seen before:"),
    ),
    # "Stop block: user message R".
    ("sent back", "Stop", GoOn("G"), blocked("G")),
    ("subagent sent back", "SubagentStop", GoOn(" "), blocked("A hook wants you to go on.")),
    ("observed only", "PostToolBatch", Refused("R"), {}),
    ("nothing to say", "PreToolUse", NO_OPINION, {}),
]


@pytest.mark.parametrize(("name", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_qwen_honours(name: str, answer: Answer, wire: dict[str, Any]) -> None:
    one = sample("qwen", name)
    encoded = CODEC.encode(CODEC.decode(one.event, one.payload), answer)
    assert encoded == wire
    assert honours(HONOURED["qwen"], one.event, encoded)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [(Granted(), {"behavior": "allow"}), (Refused("R"), {"behavior": "deny", "message": "R"})],
    ids=["allow", "deny"],
)
def test_a_permission_is_answered(answer: Answer, decision: dict[str, Any]) -> None:
    arrived = CODEC.decode("PermissionRequest", payload("PreToolUse", hook_event_name="PermissionRequest"))
    assert CODEC.encode(arrived, answer) == specific("PermissionRequest", decision=decision)


def test_a_huge_input_is_not_told_as_a_whole() -> None:
    encoded = CODEC.encode(CODEC.decode("PreToolUse", payload("PreToolUse")), RunRewritten({"text": "x" * 1_000_000}))
    assert len(encoded["hookSpecificOutput"]["permissionDecisionReason"]) < 30_000


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R")


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "SubagentStop", "PreCompact", "SessionEnd", "SomethingNew", ""])
def test_where_there_is_nothing_to_guard_nothing_is_said(event: str) -> None:
    assert CODEC.refuse(event, "R") == {}


@given(event=st.sampled_from([hooked.name for hooked in CODEC.hooked]), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(event: str, reason: str) -> None:
    assert honours(HONOURED["qwen"], event, CODEC.refuse(event, reason))
