"""The eight events that belong to no session (crucible.md 3.12 to 3.15)."""

from collections.abc import Awaitable, Callable

import pytest

from tests.support.crucible_rig import LuaRig, does
from treblehook.contracts.crucible.names import DAEMON_EVENTS
from treblehook.engine import Dispatcher
from treblehook.lifecycle import Event, NoteCreated, WebhookReceived


@pytest.fixture
def fire(rig: LuaRig) -> Callable[[Event], Awaitable[object]]:
    """Fires as a daemon does: at the home's handlers."""
    return Dispatcher(rig.home, background=rig.background, journal=rig.journal).fire


Fire = Callable[[Event], Awaitable[object]]


@pytest.mark.parametrize("name", DAEMON_EVENTS)
async def test_case_129_a_cancel_spares_the_later_handlers_of_this_occurrence(
    rig: LuaRig, fire: Fire, name: str, events: dict[str, Event]
) -> None:
    rig.load("plugin", does(name, 'seen("a")') + does(name, 'seen("b") return {cancel = true}') + does(name, 'seen("c")'))
    await fire(events[name])
    await fire(events[name])
    assert rig.seen == [("a",), ("b",)] * 2


@pytest.mark.parametrize("name", DAEMON_EVENTS)
async def test_case_130_a_handler_that_raises_stops_nobody(rig: LuaRig, fire: Fire, name: str, events: dict[str, Event]) -> None:
    rig.load("plugin", does(name, 'error("boom")') + does(name, "return print") + does(name, 'seen("next")'))
    await fire(events[name])
    assert rig.seen == [("next",)]
    assert len(rig.errors) == 2


@pytest.mark.parametrize("value", ['{path = "x"}', '{handled = true, result = "x"}', '{inject = {content = "x"}}', "true"])
async def test_case_131_what_has_no_effect_is_said(rig: LuaRig, fire: Fire, value: str) -> None:
    rig.load("plugin", does("note:created", f"return {value}") + does("note:created", 'seen("next")'))
    await fire(NoteCreated(path="a.md", title="a"))
    assert rig.seen == [("next",)]
    (line,) = rig.lines
    assert line.level == ("warn" if value == "true" else "debug")
    assert "no effect" in line.text


async def test_they_reach_the_plugins_alone(rig: LuaRig, fire: Fire) -> None:
    source = does("note:created", 'seen("ran")')
    rig.load("session", source, name="init.lua")
    rig.load("session", source)
    rig.load("plugin", source, name="init.lua")
    await fire(NoteCreated(path="a.md", title="a"))
    assert rig.seen == [("ran",)]


def test_a_workspace_that_waits_for_one_is_told_so(rig: LuaRig) -> None:
    rig.load("session", does("note:created", ""), name="init.lua")
    assert rig.warnings == []
    rig.load("session", does("note:created", ""))
    assert ["belongs to no session" in text for text in rig.warnings] == [True]


async def test_the_body_of_a_webhook_is_the_signed_text(rig: LuaRig, fire: Fire) -> None:
    body = '{ "b": 1,\n"a": "é\\u0000" }\n'
    rig.load("plugin", does("webhook:received", 'seen(event.name, event.body, event.headers["x-github-event"])'))
    await fire(WebhookReceived(name="ci", headers={"x-github-event": "push"}, body=body))
    assert rig.seen == [("ci", body, "push")]


async def test_a_note_tells_its_kiln_where_there_is_one(rig: LuaRig, fire: Fire) -> None:
    rig.load("plugin", does("note:created", "seen(event.path, event.kiln)"))
    await fire(NoteCreated(path="a.md", title="a", kiln="work"))
    await fire(NoteCreated(path="a.md", title="a"))
    assert rig.seen == [("a.md", "work"), ("a.md",)]
