"""What a session has accepted is in its file, and is taken after whatever end of the process."""

import asyncio
from typing import Any

import pytest

from tests.support.nest import Nest, nest

__all__ = ["nest"]


async def reopened(nest: Nest, session: Any) -> list[str]:
    """The prompts that a session takes once it is opened again and there is nothing else to do."""
    before = len(nest.ears.of("prompt"))
    again = await nest.open(resume=session.id)
    await again.settle(again.end)
    return [record["text"] for record in nest.ears.of("prompt")[before:]]


async def test_messages_that_no_turn_has_taken_are_taken_after_a_kill(nest: Nest) -> None:
    nest.plays({"text": "one"}, {"text": "two"}, {"text": "three"})
    session = await nest.open()
    await session.prompt("first")
    session.send("second", "idle")
    session.send("third", "idle")
    # The process is gone: its file is let go, and nothing more is written.
    session.state.recorder.close()

    assert await reopened(nest, session) == ["second", "third"]


async def test_what_was_taken_is_not_taken_again(nest: Nest) -> None:
    nest.plays({"text": "one"}, {"text": "two"})
    session = await nest.open()
    session.send("same", "idle")
    session.send("same", "idle")
    await session.settle(session.end)
    session.state.recorder.close()

    assert await reopened(nest, session) == []


async def test_a_message_that_a_hook_added_to_is_known_again(nest: Nest) -> None:
    from treblehook.lifecycle import Inject

    nest.plays({"text": "one"})
    session = await nest.open()
    session.state.hold(Inject("before"))
    session.send("asked", "idle")
    await session.settle(session.end)
    session.state.recorder.close()

    assert nest.ears.of("prompt")[-1]["text"] == "before\n\nasked"
    assert await reopened(nest, session) == []


@pytest.mark.parametrize(("reason", "taken"), [("shutdown", ["late"]), ("idle", ["late"]), ("closed", []), ("detached", [])])
async def test_only_a_host_that_stops_or_parks_a_session_leaves_it_for_later(nest: Nest, reason: Any, taken: list[str]) -> None:
    nest.plays({"text": "one"}, {"text": "two"})
    session = await nest.open()
    asked, _ = nest.hold_model()
    running = asyncio.ensure_future(session.prompt("first"))
    await asked.wait()
    session.send("late", "idle")

    await session.finish(reason)
    await running
    nest.before_reply = None

    assert await reopened(nest, session) == taken
