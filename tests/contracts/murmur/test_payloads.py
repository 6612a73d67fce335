"""Our events as records of the contract (murmur.md 3.3, 3.5)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.murmur_guests import FUNCTIONS
from tests.support.murmur_rig import (
    CALL,
    FULL,
    GATES,
    OBSERVED,
    PREPARED,
    RAN,
    SHELL_CALL,
    SHELL_GATE,
    STAGE,
    TOOL_GATE,
)
from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.payloads import POINTS, LaunchFacts
from treblehook.lifecycle import (
    Event,
    Message,
    ModelResponse,
    PreparedCall,
    SessionEnd,
    ShellGate,
    ShellOutcome,
    ShellRan,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolGate,
    ToolRan,
)
from treblehook.runtimes.wasm.types import INTEGERS, EnumType, ListType, OptionType, Primitive, RecordType, Type

FACTS = LaunchFacts("nest", "0.1.0", ("network", "shell"), "acme/small", "be brief")
texts = st.text(max_size=20)
counts = st.integers(0, 2**31 - 1)


def record(binding: str, event: Event) -> dict[str, Any]:
    """The record, which is one that the function of `binding` takes."""
    found = POINTS[Binding(binding)].record(event, FACTS)
    (param,) = FUNCTIONS[binding].params
    assert_fits(found, param.type)
    return found


def assert_fits(value: Any, type: Type) -> None:
    match type:
        case RecordType(fields):
            assert set(value) == {field.name for field in fields}
            for field in fields:
                assert_fits(value[field.name], field.type)
        case ListType(element):
            for each in value:
                assert_fits(each, element)
        case OptionType(payload):
            if value is not None:
                assert_fits(value, payload)
        case EnumType(names):
            assert value in names
        case Primitive("string"):
            assert isinstance(value, str)
        case Primitive("f64"):
            assert isinstance(value, float)
        case Primitive("bool"):
            assert isinstance(value, bool)
        case Primitive(name):
            lowest, highest = INTEGERS[name]
            assert lowest <= value <= highest
        case _:
            raise TypeError(type)


@pytest.mark.parametrize("binding", [one.value for one in Binding])
def test_every_point_fills_the_record_of_its_function(binding: str) -> None:
    record(binding, {"on-stage": STAGE, **OBSERVED}[binding])


def test_a_session() -> None:
    assert record("on-session-start", OBSERVED["on-session-start"]) == {
        "capsule-name": "nest",
        "capsule-version": "0.1.0",
        "session-id": "ses_1",
        "model": "acme/first",
        "capabilities": ["network", "shell"],
    }
    assert record("on-stage", STAGE) == {"shell-allow": ["bash", "rg"]}


def test_case_050_and_089_only_the_shown_command_is_cut_and_by_characters() -> None:
    script = "é" * 300
    prepared = PreparedCall("bash", script, "/usr/bin/bash", ("-c", script), script=script, recipe="r" * 300)

    for event in (
        ShellGate(call=SHELL_CALL, prepared=prepared),
        ShellRan(call=SHELL_CALL, prepared=prepared, outcome=ShellOutcome(0, "", "", 1)),
    ):
        found = record("on-shell", event)
        assert found["command"] == "é" * 200
        assert found["argv"] == ["-c", script]
        assert (found["script"], found["recipe"]) == (script, "r" * 300)


def test_case_090_an_interpreters_arguments() -> None:
    found = record("on-shell", SHELL_GATE)

    assert (found["argv"], found["script"], found["recipe"]) == (["-c", PREPARED.script], PREPARED.script, None)
    assert found["binary"] == "/usr/bin/bash"


def test_case_050_and_070_there_is_an_outcome_only_after_the_fact() -> None:
    assert [record(binding, event)["outcome"] for binding, event in GATES.items()] == [None, None]
    assert record("on-tool-call", RAN)["outcome"] == {"output-bytes": 4, "duration-ms": 3, "status": "ok"}
    assert record("on-shell", OBSERVED["on-shell"])["outcome"] == {
        "exit-code": 0,
        "stdout": "out",
        "stderr": "err",
        "stdout-bytes": 3,
        "stderr-bytes": 3,
        "duration-ms": 3,
    }


def test_case_051_any_exit_code_is_data() -> None:
    for code in (0, 1, 137, -1):
        event = ShellRan(call=SHELL_CALL, prepared=PREPARED, outcome=ShellOutcome(code, "é", "", 1))
        outcome = record("on-shell", event)["outcome"]
        assert (outcome["exit-code"], outcome["stdout-bytes"]) == (code, 2)


def test_case_053_a_tool_that_failed() -> None:
    event = ToolRan(call=ToolCall("c", "nothing", {}), content="There is no tool", is_error=True)

    assert record("on-tool-call", event)["outcome"]["status"] == "error"
    assert record("on-tool-call", event)["input"] == "{}"


def test_the_input_of_a_tool_is_its_exact_text() -> None:
    found = record("on-tool-call", TOOL_GATE)

    assert (found["input"], found["input-bytes"]) == ('{"place":"x"}', 13)
    assert record("on-tool-call", RAN)["input"] == found["input"]


def test_case_122_the_threshold_is_the_measured_ratio() -> None:
    found = record("on-compaction", FULL)

    assert (found["session-tokens"], found["threshold"]) == (991, 0.991)
    assert (found["model"], found["system-prompt"]) == ("acme/small", "be brief")
    assert [(one["role"], json.loads(one["content"])) for one in found["messages"]] == [
        ("user", [{"type": "text", "text": "u"}]),
        ("assistant", [{"type": "text", "text": "a"}]),
    ]


def test_what_a_compaction_is_told_is_never_made_up() -> None:
    found = POINTS[Binding.COMPACTION].record(FULL, LaunchFacts("nest", "0.1.0"))

    assert (found["model"], found["system-prompt"]) == (None, None)


outcomes = st.builds(ShellOutcome, st.integers(-(2**31), 2**31 - 1), texts, texts, counts)
prepareds = st.builds(PreparedCall, texts, texts, texts, st.lists(texts).map(tuple), st.none() | texts, st.none() | texts)
calls = st.builds(ToolCall, texts, texts, st.dictionaries(texts, texts | st.integers() | st.none()))
messages = st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), texts, id=texts, call_id=texts)
EVENTS: dict[str, st.SearchStrategy[Event]] = {
    "on-task-start": st.builds(TaskStart, task=texts, context=texts, source=texts, input_bytes=counts, budget_tokens=counts),
    "on-inference": st.builds(
        ModelResponse, turn=counts, text=texts, tool=st.none() | texts, prompt=st.none() | texts, output=st.none() | texts
    ),
    "on-tool-call": st.builds(ToolRan, call=calls, content=texts, is_error=st.booleans(), duration_ms=counts, turn=counts)
    | st.builds(ToolGate, call=calls, input_json=texts, turn=counts),
    "on-shell": st.builds(ShellRan, call=calls, prepared=prepareds, outcome=outcomes, turn=counts)
    | st.builds(ShellGate, call=calls, prepared=prepareds, turn=counts),
    "on-task-end": st.builds(TaskEnd, task=texts, exit_status=texts),
    "on-session-end": st.builds(SessionEnd, reason=st.just("closed"), requests=counts, input_tokens=counts, duration_ms=counts),
}


@given(st.sampled_from(sorted(EVENTS)).flatmap(lambda binding: st.tuples(st.just(binding), EVENTS[binding])))
def test_whatever_happened_there_is_a_record_of_it(given: tuple[str, Event]) -> None:
    record(*given)


@given(st.lists(messages))
def test_any_conversation_can_be_handed_over(given: list[Message]) -> None:
    found = record("on-compaction", type(FULL)(messages=tuple(given), tokens=1, ratio=1.0))

    assert [one["role"] for one in found["messages"]] == [message.role for message in given]
    assert all(isinstance(json.loads(one["content"]), list | dict) for one in found["messages"])


def test_a_call_of_many_texts() -> None:
    assert record("on-tool-call", ToolRan(call=CALL, content="é"))["outcome"]["output-bytes"] == 2
