"""Whatever a script leaves, reading it gives a decision that its event accepts, or a `HookProblem`."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sample_events import SAMPLES
from treblehook.contracts.claude.answers import decider
from treblehook.contracts.claude.events import EVENTS
from treblehook.engine import HookFailed
from treblehook.engine.ask import checked
from treblehook.lifecycle import AddContext, Decision
from treblehook.runtimes.process import Finished

ANY_TEXT = st.text(st.characters(exclude_categories=[]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)
SPECIFIC = st.dictionaries(
    st.sampled_from(["hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"]),
    st.sampled_from([*EVENTS, "allow", "deny", "ask", ""]) | ANY_TEXT | JSON,
)
ANSWERS = st.dictionaries(
    st.sampled_from(["decision", "reason", "hookSpecificOutput", "continue"]), st.just("block") | ANY_TEXT | SPECIFIC | JSON
)


def left(stdout: bytes, status: int = 0, stderr: bytes = b"") -> Finished:
    return Finished(status, stdout, stderr, stdout_cut=False, stderr_cut=False, seconds=0.0)


def read(event: str, finished: Finished) -> Decision | None:
    """The decision, once it is sure that the event accepts it and that it can be written anywhere; None for a failure too."""
    try:
        decision = decider(event)(finished)
    except HookFailed:
        return None
    checked(SAMPLES[EVENTS[event].phase], decision)
    msgspec.json.encode(decision)
    return decision


@pytest.mark.parametrize("event", EVENTS)
@given(answer=JSON | ANSWERS)
def test_any_json(event: str, answer: Any) -> None:
    read(event, left(json.dumps(answer).encode()))


@pytest.mark.parametrize("event", EVENTS)
@given(stdout=st.binary(), stderr=st.binary(), status=st.sampled_from([0, 0, 1, 2, 255, -9, -64]))
def test_any_bytes(event: str, stdout: bytes, stderr: bytes, status: int) -> None:
    read(event, left(stdout, status, stderr))


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "SessionStart", "Stop"])
@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000])
def test_deep_nesting_is_a_failure(event: str, nested: str) -> None:
    with pytest.raises(HookFailed, match="nested deeper"):
        decider(event)(left(nested.encode()))


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
@given(text=st.text(st.characters(exclude_characters="\ufeff", exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1))
def test_a_context_arrives_as_it_was(event: str, text: str) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    assert decider(event)(left(json.dumps(answer).encode())) == AddContext(text)
    assert decider(event)(left(f"[{text}]\n".encode())) == AddContext(f"[{text}]")
