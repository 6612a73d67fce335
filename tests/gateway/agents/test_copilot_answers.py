"""Copilot: every answer is what HONOURED.md (sections 2 and 3, Copilot) lists for its event."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.drawn import TEXTS
from tests.gateway.honoured import HONOURED, honours
from tests.gateway.samples import sample
from treblehook.gateway.agents.copilot import Copilot
from treblehook.gateway.codec import Codec
from treblehook.gateway.values import NO_OPINION, AddText, Answer, AskUser, GoOn, Granted, Patched, Refused, RunRewritten

CODEC: Codec = Copilot()


def denied(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def blocked(reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


def result(text: str, kind: str = "success") -> dict[str, Any]:
    return {"modifiedResult": {"resultType": kind, "textResultForLlm": text}}


REPLACED = "The tool was not run; a hook answered in its place. This is the result:\n42"
OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in Copilot. Make it again with this one: "
REFUSED_SESSION = "This session is refused, and so is everything that it asks for: R"
NOSUCH = "Tool 'nosuch' does not exist."
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    # sessionStart: "additionalContext | a user message".
    ("context at the start", "sessionStart", AddText("C"), {"additionalContext": "C"}),
    ("blank context", "sessionStart", AddText(" "), {}),
    ("session refused", "sessionStart", Refused("R"), {"additionalContext": REFUSED_SESSION}),
    # userPromptSubmitted: "decision:block | no request, rc 1; additionalContext in <system_reminder>".
    ("context at a prompt", "userPromptSubmitted", AddText("C"), {"additionalContext": "C"}),
    ("prompt refused", "userPromptSubmitted", Refused(""), blocked("A hook refused this.")),
    # preToolUse: "permissionDecision:deny | Denied by preToolUse hook: R; modifiedArgs | replaces; ask, headless: B".
    ("call refused", "preToolUse", Refused("R"), denied("R")),
    ("call refused, no reason", "preToolUse", Refused("\n"), denied("A hook refused this.")),
    ("call replaced", "preToolUse", Refused("42", replaced=True), denied(REPLACED)),
    ("user asked", "preToolUse", AskUser("W"), {"permissionDecision": "ask", "permissionDecisionReason": "W"}),
    ("rewritten", "preToolUse", RunRewritten({"command": "ls"}), {"modifiedArgs": {"command": "ls"}}),
    (
        "rewritten under its own keys",
        "preToolUse.create",
        RunRewritten({"path": "/y", "content": "c"}),
        {"modifiedArgs": {"path": "/y", "file_text": "c"}},
    ),
    ("rewritten and asked", "preToolUse", AskUser("W", {"command": "ls"}), denied(OTHER_INPUT + '{"command":"ls"}')),
    (
        "a patch rewritten",
        "preToolUse.apply_patch",
        RunRewritten({"path": "/y", "content": "c"}),
        denied(OTHER_INPUT + '{"path":"/y","content":"c"}'),
    ),
    (
        "two values for one key",
        "preToolUse.create",
        RunRewritten({"content": "a", "file_text": "b"}),
        denied(OTHER_INPUT + '{"content":"a","file_text":"b"}'),
    ),
    # permissionRequest: "behavior:allow / behavior:deny, message".
    ("granted", "permissionRequest", Granted(), {"behavior": "allow"}),
    ("not granted", "permissionRequest", Refused("R"), {"behavior": "deny", "message": "R"}),
    # postToolUse: "modifiedResult | replaced".
    ("patched", "postToolUse", Patched("new", is_error=False), result("new")),
    ("emptied", "postToolUse", Patched("", is_error=False), result("(empty)")),
    ("patched by an error", "postToolUse", Patched("bad", is_error=True), result("bad", "failure")),
    # A command with another status than 0 is a success to Copilot, and stays one.
    ("a failed command patched", "postToolUse.bash", Patched("new", is_error=True), result("new")),
    ("a failed command that is a success", "postToolUse.bash", Patched("new", is_error=False), result("new")),
    # postToolUseFailure: additionalContext only.
    ("an error added to", "postToolUseFailure", Patched(NOSUCH + "\nlook around", is_error=True), {"additionalContext": "look around"}),
    (
        "an error patched",
        "postToolUseFailure",
        Patched("all is well", is_error=False),
        {"additionalContext": "Hooks put this in place of the error: all is well"},
    ),
    # agentStop: "decision:block | R as a new prompt".
    ("sent back", "agentStop", GoOn("G"), blocked("G")),
    ("sent back without a word", "agentStop", GoOn(""), blocked("A hook wants you to go on.")),
    ("subagent sent back", "subagentStop", GoOn("G"), blocked("G")),
    # Nothing can be said, or nothing is to be said.
    ("end", "sessionEnd", NO_OPINION, {}),
    ("observed only", "userPromptTransformed", Refused("R"), {}),
    # PascalCase events honour the same.
    ("call refused, PascalCase", "PreToolUse", Refused("R"), denied("R")),
    ("rewritten, PascalCase", "PreToolUse.Write", RunRewritten({"path": "/y"}), {"modifiedArgs": {"path": "/y"}}),
    ("patched, PascalCase", "PostToolUse", Patched("new", is_error=False), result("new")),
    ("sent back, PascalCase", "Stop", GoOn("G"), blocked("G")),
]


@pytest.mark.parametrize(("name", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_copilot_honours(name: str, answer: Answer, wire: dict[str, Any]) -> None:
    one = sample("copilot", name)
    encoded = CODEC.encode(CODEC.decode(one.event, one.payload), answer)
    assert encoded == wire
    assert honours(HONOURED["copilot"], one.event, encoded)


def test_a_huge_input_is_not_told_as_a_whole() -> None:
    one = sample("copilot", "preToolUse")
    encoded = CODEC.encode(CODEC.decode(one.event, one.payload), AskUser("W", {"text": "x" * 1_000_000}))
    assert len(encoded["permissionDecisionReason"]) < 30_000


@pytest.mark.parametrize("event", ["userPromptSubmitted", "preToolUse", "permissionRequest", "postToolUse", "PreToolUse"])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R")


@pytest.mark.parametrize("event", ["sessionStart", "agentStop", "subagentStop", "preCompact", "sessionEnd", "somethingNew", ""])
def test_where_there_is_nothing_to_guard_nothing_is_said(event: str) -> None:
    assert CODEC.refuse(event, "R") == {}


@given(event=st.sampled_from([hooked.name for hooked in CODEC.hooked]), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(event: str, reason: str) -> None:
    assert honours(HONOURED["copilot"], event, CODEC.refuse(event, reason))
