"""Whatever a hook leaves, reading it gives a decision that its event accepts, or a `HookProblem`."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sample_events import SAMPLES
from treblehook.contracts.vera.answers import decider
from treblehook.contracts.vera.phases import CONTEXT_BYTES, PHASES
from treblehook.engine import HookFailed
from treblehook.engine.ask import checked
from treblehook.lifecycle import AddContext, Continue, Decision
from treblehook.runtimes.process import Finished

ANY_TEXT = st.text(st.characters(exclude_categories=[]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)
KEYS = st.sampled_from(["input", "reason", "result", "patch", "context", "display", "tools", "model", "reasoningEffort"])
BLOCKS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": ANY_TEXT}) | JSON, max_size=3)
RESULTS = st.dictionaries(st.sampled_from(["content", "isError"]), BLOCKS | st.booleans() | JSON)
ANSWERS = st.builds(
    lambda power, rest: {"power": power, **rest},
    st.sampled_from(["observe", "mutate", "block", "replace", "continue"]) | JSON,
    st.dictionaries(KEYS, ANY_TEXT | st.lists(ANY_TEXT, max_size=3) | RESULTS | JSON, max_size=5),
)


def left(stdout: bytes, status: int = 0, stderr: bytes = b"") -> Finished:
    return Finished(status, stdout, stderr, stdout_cut=False, stderr_cut=False, seconds=0.0)


def read(phase: str, finished: Finished) -> Decision | None:
    """The decision, once it is sure that the event accepts it and that it can be written anywhere; None for a failure too."""
    try:
        decision = decider(phase)(finished)
    except HookFailed:
        return None
    checked(SAMPLES[phase], decision)
    msgspec.json.encode(decision)
    return decision


@pytest.mark.parametrize("phase", PHASES)
@given(answer=JSON | ANSWERS)
def test_any_json(phase: str, answer: Any) -> None:
    read(phase, left(json.dumps(answer).encode()))


@pytest.mark.parametrize("phase", PHASES)
@given(
    stdout=st.binary() | st.text().map(lambda text: text.encode()), stderr=st.binary(), status=st.sampled_from([0, 0, 1, 2, 255, -9, -64])
)
def test_any_bytes(phase: str, stdout: bytes, stderr: bytes, status: int) -> None:
    read(phase, left(stdout, status, stderr))


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"power":' * 100_000, '{"power":"mutate","input":' + '{"a":' * 5000 + "1" + "}" * 5001])
@pytest.mark.parametrize("phase", ["pre_tool_use", "session_start", "turn_ending"])
def test_deep_nesting_is_a_failure(phase: str, nested: str) -> None:
    with pytest.raises(HookFailed, match="nested deeper"):
        decider(phase)(left(nested.encode()))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_a_failure(number: str) -> None:
    with pytest.raises(HookFailed, match="did not print one JSON value"):
        decider("pre_tool_use")(left(f'{{"power":"mutate","input":{{"a":{number}}}}}'.encode()))


@given(text=st.text(min_size=1), escaped=st.booleans())
def test_a_context_arrives_as_it_was(text: str, escaped: bool) -> None:
    def answer(power: str) -> Finished:
        return left(json.dumps({"power": power, "context": text}, ensure_ascii=escaped).encode())

    assert decider("session_start")(answer("mutate")) == AddContext(text)
    assert decider("pre_turn")(answer("mutate")) == AddContext(text)
    assert decider("turn_ending")(answer("continue")) == Continue(text)


@settings(max_examples=25)
@given(character=st.characters(exclude_categories=[]))
def test_the_limit_of_a_context_is_in_bytes(character: str) -> None:
    count = CONTEXT_BYTES // len(character.encode("utf-8", "surrogatepass"))

    def answer(text: str) -> Finished:
        return left(json.dumps({"power": "mutate", "context": text}).encode())

    assert decider("session_start")(answer(character * count)) is not None
    with pytest.raises(HookFailed, match="131072 are allowed"):
        decider("session_start")(answer(character * (count + 1)))
