"""`vera.d.ts` declares what extensions are really given and may really answer."""

import re

import pytest

from tests.support.sample_events import SAMPLES, compacting, submitted
from treblehook.contracts.claude.events import EVENTS
from treblehook.contracts.vera.answers import POWERS
from treblehook.contracts.vera.extensions.extensions import API
from treblehook.contracts.vera.extensions.manifest import DECLARATIONS
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.contracts.vera.phases import FUNCTION_PHASES, PHASES
from treblehook.lifecycle import Event, TurnComplete

TEXT = re.sub(r"/\*\*.*?\*/", "", DECLARATIONS.read_text(), flags=re.DOTALL)
FULL: dict[str, Event] = {
    **SAMPLES,
    "pre_turn": submitted(effort="high"),
    "pre_compact": compacting(capacity=1000),
    "turn_finished": TurnComplete(outcome="completed", turns=1),
}


def name_of(phase: str) -> str:
    """`pre_tool_use` as `PreToolUse`."""
    return "".join(word.capitalize() for word in phase.split("_"))


def members(interface: str) -> dict[str, str]:
    """The fields of an interface with their types; optional ones end in `?`."""
    found = re.search(rf"export interface {interface} \{{\n(.*?)\n\}}", TEXT, re.DOTALL)
    assert found is not None, interface
    return dict(re.findall(r"^\s+(?:readonly )?(\w+\??): (.+);$", found[1], re.MULTILINE))


def choices(alias: str) -> list[str]:
    found = re.search(rf"export type {alias} =([^;]+);", TEXT)
    assert found is not None, alias
    return re.findall(r"\w+", found[1])


@pytest.mark.parametrize("phase", FUNCTION_PHASES)
def test_every_payload_has_exactly_the_declared_fields(phase: str) -> None:
    declared = members(name_of(phase))
    payload = PAYLOADS[phase](FULL[phase])

    assert {field.rstrip("?") for field in declared} == set(payload)
    assert declared["type"] == f'"{phase}"'
    kinds = {"string": str, "boolean": bool, "number": int | float, "string[]": list}
    for field, kind in declared.items():
        if kind in kinds:
            assert isinstance(payload[field.rstrip("?")], kinds[kind]), field
        elif kind.startswith('"'):
            assert f'"{payload[field]}"' in kind, field


def test_the_optional_fields_are_those_that_may_be_missing() -> None:
    optional = {field for phase in FUNCTION_PHASES for field in members(name_of(phase)) if field.endswith("?")}

    assert optional == {"reasoningEffort?", "capacity?"}
    assert "reasoningEffort" not in PAYLOADS["pre_turn"](submitted())
    assert "capacity" not in PAYLOADS["pre_compact"](compacting())


@pytest.mark.parametrize("phase", POWERS)
def test_every_answer_has_a_power_that_the_phase_knows(phase: str) -> None:
    answers = choices(f"{name_of(phase)}Result")

    assert {members(answer)["power"].strip('"') for answer in answers} == set(POWERS[phase])


def test_the_register_calls_are_those_of_the_api() -> None:
    declared = set(re.findall(r"^\s+(register\w+)\(", TEXT, re.MULTILINE))

    with open(API) as api:
        assert declared == set(re.findall(r"\b(register[A-Z]\w+)(?=:| = \()", api.read()))


def test_phases_of_commands() -> None:
    assert set(choices("CommandPhase")) == set(PHASES)
    assert set(choices("ClaudeEvent")) == set(EVENTS)
