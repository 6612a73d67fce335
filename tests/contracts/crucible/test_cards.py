"""`tool:display_start` and `tool:display_complete` (crucible.md 3.10, 3.11)."""

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_rig import LuaRig, returns
from treblehook.lifecycle import (
    Display,
    Event,
    ToolCall,
    ToolShown,
    ToolStarted,
)

CALL = ToolCall("c1", "bash", {"command": "ls"})


@pytest.mark.parametrize(
    ("name", "event", "value", "decision"),
    [
        (
            "tool:display_start",
            ToolStarted(call=CALL),
            '{label = "L", detail = "D", primary_arg = "A", max_lines = 3}',
            Display("L", "D", "A", max_lines=3),
        ),
        ("tool:display_start", ToolStarted(call=CALL), '{label = 5, detail = "D", max_lines = -1}', Display(detail="D")),
        ("tool:display_start", ToolStarted(call=CALL), "{max_lines = 3.0}", Display(max_lines=3)),
        ("tool:display_start", ToolStarted(call=CALL), "{max_lines = 3.5, label = {}}", None),
        ("tool:display_start", ToolStarted(call=CALL), '{summary = "S"}', None),
        ("tool:display_start", ToolStarted(call=CALL), "{max_lines = 0}", Display(max_lines=0)),
        ("tool:display_complete", ToolShown(call=CALL, content="x"), '{summary = "S", max_lines = 3}', Display(summary="S", max_lines=3)),
        ("tool:display_complete", ToolShown(call=CALL, content="x"), '{label = "L"}', None),
        ("tool:display_complete", ToolShown(call=CALL, content="x"), '{summary = ""}', Display()),
        ("tool:display_complete", ToolShown(call=CALL, content="x"), '{cancel = true, summary = "S"}', None),
        ("tool:display_complete", ToolShown(call=CALL, content="x"), '"S"', None),
    ],
)
async def test_the_hints_of_a_card(rig: LuaRig, kind: str, name: str, event: Event, value: str, decision: Display | None) -> None:
    rig.load(kind, returns(name, value))
    assert (await rig.fire(event)).decision == decision


async def test_the_first_usable_card_wins(rig: LuaRig) -> None:
    rig.load("plugin", returns("tool:display_start", '{label = "plugin"}', "plugin"))
    rig.load(
        "session", 'cru.on("tool:display_start", function() error("boom") end)\n' + returns("tool:display_start", "{label = 5}", "wrong")
    )
    outcome = await rig.fire(ToolStarted(call=CALL))
    assert outcome.decision == Display(label="plugin")
    assert rig.seen == [("wrong",), ("plugin",)]


async def test_a_card_changes_nothing_for_the_model(calls: CallRig, on_calls: LuaRig, kind: str) -> None:
    on_calls.load(kind, returns("tool:display_complete", '{summary = "S"}') + returns("tool:display_start", '{label = "L"}'))
    outcome = await calls.take("dig", place="beach")
    assert outcome.content == "dug {'place': 'beach'}"
    assert calls.told == [(outcome, Display(summary="S"))]
    assert calls.announced[0][2] == Display(label="L")
