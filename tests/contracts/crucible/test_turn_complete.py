"""`turn:complete`, and `inject` where it has no effect (crucible.md 3.8)."""

from typing import Any

import pytest

from tests.support.crucible_rig import LuaRig, returns
from treblehook.contracts.crucible.names import EVENT_NAMES
from treblehook.engine import Outcome
from treblehook.lifecycle import (
    Event,
    Inject,
    TurnComplete,
)

DONE = TurnComplete(session="s1", outcome="completed", turns=1, reply="done")


def injected(outcome: Outcome[Any]) -> list[Any]:
    return [contribution.decision for contribution in outcome.contributions]


@pytest.mark.parametrize(
    ("inject", "decision"),
    [
        ('{content = "P", position = "user_prefix"}', Inject("P")),
        ('{content = "P", position = "user_suffix"}', Inject("P", "user_suffix")),
        ('{content = "P"}', Inject("P")),
        ('{content = "P", position = 5}', Inject("P")),
        ("{content = 5}", Inject("5")),
        ("{content = 1.5}", Inject("1.5")),
        ('{content = ""}', Inject("")),
    ],
    ids=["case_097", "case_098_suffix", "case_098_missing", "position", "integer", "float", "empty"],
)
async def test_case_097_098_an_inject_is_held(rig: LuaRig, kind: str, inject: str, decision: Inject) -> None:
    rig.load(kind, returns("turn:complete", f"{{inject = {inject}}}"))
    assert injected(await rig.fire(DONE)) == [decision]
    assert rig.lines == []


async def test_an_unknown_position_is_told_and_counts_as_the_first(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("turn:complete", '{inject = {content = "P", position = "middle"}}'))
    assert injected(await rig.fire(DONE)) == [Inject("P")]
    assert "`middle`" in rig.warnings[0]


async def test_case_099_the_last_inject_wins(rig: LuaRig) -> None:
    rig.load("plugin", returns("turn:complete", '{inject = {content = "plugin"}}') + returns("turn:complete", "nil"))
    rig.load("session", 'cru.on("turn:complete", {priority = 900}, function() return {inject = {content = "session"}} end)')
    assert injected(await rig.fire(DONE)) == [Inject("plugin")]


@pytest.mark.parametrize("name", [name for name in EVENT_NAMES if name != "turn:complete"])
async def test_case_100_an_inject_from_elsewhere_has_no_effect(rig: LuaRig, kind: str, name: str, events: dict[str, Event]) -> None:
    rig.load(kind, returns(name, '{inject = {content = "x"}}') + returns(name, "nil", "next"))
    rig.lines.clear()
    outcome = await rig.fire(events[name])
    assert (outcome.value, outcome.decision, outcome.contributions) == (events[name], None, ())
    assert rig.seen == [("ran",), ("next",)]
    assert rig.warnings == []


async def test_a_misspelt_inject_is_told(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("turn:complete", '{injct = {content = "x"}}'))
    assert injected(await rig.fire(DONE)) == []
    assert "did you mean `inject`?" in rig.warnings[0]


async def test_case_101_an_inject_survives_the_failure_of_another(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("turn:complete", '{inject = {content = "x"}}') + 'cru.on("turn:complete", function() error("boom") end)\n')
    rig.load(kind, returns("turn:complete", "{inject = {}}"))
    assert injected(await rig.fire(DONE)) == [Inject("x")]
    assert len(rig.errors) == 2


@pytest.mark.parametrize("value", ["{cancel = true}", '{handled = true, result = "x"}', '{prompt = "x"}', "true"])
async def test_nothing_else_has_an_effect_at_the_end_of_a_turn(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, returns("turn:complete", value) + returns("turn:complete", "nil", "next"))
    outcome = await rig.fire(DONE)
    assert (outcome.decision, outcome.contributions) == (None, ())
    assert rig.seen == [("ran",), ("next",)]


@pytest.mark.parametrize(
    "event",
    [
        TurnComplete(outcome="error", turns=1),
        TurnComplete(outcome="aborted", turns=1),
        TurnComplete(outcome="completed", turns=1, terminated=True),
    ],
)
async def test_a_turn_that_did_not_end_normally_is_not_told(rig: LuaRig, kind: str, event: TurnComplete) -> None:
    rig.load(kind, returns("turn:complete", "nil"))
    await rig.fire(event)
    assert (rig.seen, rig.asked) == ([], [])
