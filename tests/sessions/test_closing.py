"""Turns one after another, and the end of a session: told once, after its turn, and whoever waits for it or not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.nest import HELD, OBSERVE, Deaf, Nest, bash
from treblehook.agent.session import Session
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import (
    Block,
    PromptSubmitted,
    SessionEnd,
    TaskEnd,
    TaskStart,
    ToolProposed,
    TurnComplete,
)


async def test_prompts_that_wait_for_each_other_are_turns_of_their_own(nest: Nest) -> None:
    nest.plays({"text": "one"}, {"text": "two"}, {"text": "three"})
    session = await nest.open()

    ends = await asyncio.gather(*(session.prompt(text) for text in ("a", "b", "c")))

    assert [end.text for end in ends] == ["one", "two", "three"]
    assert session.state.turns == 3


async def test_a_prompt_that_waits_in_a_session_that_closes_is_not_taken(nest: Nest) -> None:
    session = await nest.open()
    asked, _ = nest.hold_model()
    running, waiting = asyncio.ensure_future(session.prompt("a")), asyncio.ensure_future(session.prompt("b"))
    await asked.wait()

    await session.finish("closed")

    assert [(await running).status, (await waiting).status] == ["interrupted", "interrupted"]
    assert [message.text for message in session.state.conversation.messages] == ["a"]
    assert len(nest.queries) == 1


async def test_closing_twice_and_at_once_is_closing_once(nest: Nest) -> None:
    nest.recorder("session_end")
    session = await nest.open()

    await asyncio.gather(session.finish("closed"), session.finish("idle"), session.close("shutdown"))

    assert [payload["reason"] for payload in nest.sent("session_end")] == ["closed"]


async def test_closing_goes_on_where_its_caller_stops_waiting(nest: Nest) -> None:
    deaf, hooks = Deaf(), Hooks()

    @hooks.on(SessionEnd)
    async def slow(event: SessionEnd) -> None:
        await deaf.wait()

    nest.recorder("session_end")
    session = await nest.open(hooks=hooks)
    closing = asyncio.ensure_future(session.close("closed"))
    await deaf.reached.wait()

    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    deaf.go.set()

    await session.close("idle")
    assert [payload["reason"] for payload in await nest.heard("session_end")] == ["closed"]


async def test_a_session_that_is_stopped_while_it_starts_ends_and_frees_its_file(nest: Nest) -> None:
    nest.hook("session_start", "held", HELD + OBSERVE)
    nest.recorder("session_end")
    opening = asyncio.ensure_future(nest.open())
    await nest.started("held")

    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    (record,) = nest.ears.of("session")
    assert [payload["reason"] for payload in nest.sent("session_end")] == ["detached"]
    nest.release("held")
    assert (await nest.open(resume=record["id"])).id == record["id"]


CALLBACKS: list[Callable[[Session], Any]] = [lambda session: session.interrupt(), lambda session: session.close("closed")]


@pytest.mark.parametrize("act", CALLBACKS, ids=["interrupt", "close"])
async def test_a_hook_may_stop_the_session_that_asks_it(nest: Nest, act: Callable[[Session], Any]) -> None:
    hooks, session = Hooks(), None

    @hooks.on(ToolProposed)
    async def stop(event: ToolProposed) -> None:
        assert session is not None
        await act(session)

    nest.plays(bash("touch late"))
    session = await nest.open(hooks=hooks)

    assert (await session.prompt("go")).status == "interrupted"
    assert not (nest.workspace / "late").exists()


@pytest.mark.parametrize("point", ["prompt", "model", "task end", "turn complete"])
async def test_what_ends_with_a_stopped_turn_is_told_once(nest: Nest, point: str) -> None:
    """A task that has begun ends, and the turn completes once, as aborted unless it had completed before."""
    told: list[tuple[str, str]] = []
    deaf, hooks = Deaf(), Hooks()
    kinds = {"prompt": PromptSubmitted, "task end": TaskEnd, "turn complete": TurnComplete}

    @hooks.on(TaskEnd)
    async def task_end(event: TaskEnd) -> None:
        told.append(("task", event.exit_status))

    @hooks.on(TurnComplete)
    async def turn_complete(event: TurnComplete) -> None:
        told.append(("turn", event.outcome))

    if point == "model":
        asked, _ = nest.hold_model()
    else:
        asked = deaf.reached
        hooks.on(kinds[point])(lambda event: deaf.wait())
    session = await nest.open(hooks=hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    await session.interrupt()
    await turn
    deaf.go.set()
    await session.finish("closed")

    assert (
        told
        == {
            "prompt": [("turn", "aborted")],
            "model": [("task", "canceled"), ("turn", "aborted")],
            "task end": [("task", "ok"), ("turn", "aborted")],
            "turn complete": [("task", "ok"), ("turn", "completed")],
        }[point]
    )


async def test_the_end_of_a_stopped_turn_is_told_before_that_of_the_session(nest: Nest) -> None:
    told: list[str] = []
    hooks = Hooks()
    for kind in (TaskEnd, TurnComplete, SessionEnd):
        hooks.on(kind)(lambda event: told.append(type(event).__name__))
    session = await nest.open(hooks=hooks)
    asked, _ = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    await session.finish("closed")
    await turn

    assert told == ["TaskEnd", "TurnComplete", "SessionEnd"]


async def test_a_blocked_prompt_begins_no_task(nest: Nest) -> None:
    told: list[str] = []
    hooks = Hooks()
    hooks.on(PromptSubmitted)(lambda event: Block("no"))
    for kind in (TaskStart, TaskEnd, TurnComplete):
        hooks.on(kind)(lambda event: told.append(type(event).__name__))
    session = await nest.open(hooks=hooks)

    await session.prompt("go")

    assert told == ["TurnComplete"]
