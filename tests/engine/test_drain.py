"""A drain ends within its bound, says what it gave up, and leaves no call without an end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.hooks import Rig, after, deaf, stub
from tests.support.virtual import now, virtual
from treblehook.engine import DETACHED, BackgroundClosed, Ended, HookGivenUp, Queued
from treblehook.lifecycle import NoteCreated, Stop


def note(title: str) -> NoteCreated:
    return NoteCreated(path="a.md", title=title)


def listener(told: list[str], seconds: float = 0) -> Callable[[NoteCreated], Awaitable[None]]:
    async def listens(event: NoteCreated) -> None:
        told.append(f"{event.title} at {now():g}")
        await asyncio.sleep(seconds)

    return listens


@virtual
async def test_a_drain_gives_up_at_its_bound_and_says_what() -> None:
    rig = Rig(
        stub(NoteCreated, after(9), name="slow queue", delivery=Queued()),
        stub(NoteCreated, deaf(90), name="deaf", delivery=DETACHED),
    )
    for title in "abc":
        await rig.fire(note(title))

    gave_up = await rig.background.drain(queued_seconds=10, detached_seconds=2)

    assert [(entry.handler.name, entry.pending) for entry in gave_up] == [("slow queue", 2), ("deaf", 3)]
    assert now() == 12
    queue = [call for call in rig.journal.calls if call.handler.name == "slow queue"]
    assert [call.ended for call in queue] == [Ended.PASSED, Ended.FAILED, Ended.NOT_STARTED]
    assert [call.problem for call in queue] == [None, HookGivenUp, BackgroundClosed]
    rig.check_journal()
    await asyncio.sleep(100)
    rig.check_journal()


@virtual
async def test_a_handler_that_answers_after_it_was_given_up_is_not_heard() -> None:
    rig = Rig(stub(NoteCreated, deaf(90, Stop()), delivery=Queued()))
    await rig.fire(note("a"))
    await rig.fire(note("b"))

    assert [entry.pending for entry in await rig.background.drain(queued_seconds=1)] == [2]
    await asyncio.sleep(100)

    assert rig.ends == [("hook", Ended.FAILED), ("hook", Ended.NOT_STARTED)]
    rig.check_journal()


@pytest.mark.parametrize("delivery", [Queued(), Queued(overflow="block"), DETACHED])
@virtual
async def test_nothing_is_taken_after_the_drain(delivery: Any) -> None:
    rig = Rig(stub(NoteCreated, delivery=delivery))
    await rig.background.drain()

    await rig.fire(note("a"))

    assert rig.ends == [("hook", Ended.NOT_STARTED)]
    assert rig.journal.calls[0].problem is BackgroundClosed
    rig.check_journal()


@virtual
async def test_what_was_given_up_is_not_waited_for_again() -> None:
    rig = Rig(stub(NoteCreated, deaf(90), delivery=Queued()), stub(NoteCreated, deaf(90), delivery=DETACHED))
    await rig.fire(note("a"))

    assert len(await rig.background.drain(queued_seconds=1, detached_seconds=1)) == 2
    assert await rig.background.drain() == []

    assert now() == 2
    await asyncio.sleep(90)


@virtual
async def test_a_drain_frees_whoever_waits_for_room() -> None:
    rig = Rig(stub(NoteCreated, deaf(50), delivery=Queued(depth=1, overflow="block")))
    waiting = [asyncio.ensure_future(rig.fire(note(title))) for title in "abcd"]
    await asyncio.sleep(1)

    await rig.background.drain(queued_seconds=1)

    await asyncio.wait_for(asyncio.gather(*waiting), 1)
    rig.check_journal()
    await asyncio.sleep(50)


@virtual
async def test_a_cancelled_drain_gives_up_at_once() -> None:
    rig = Rig(stub(NoteCreated, after(50), delivery=Queued()), stub(NoteCreated, after(50), delivery=DETACHED))
    await rig.fire(note("a"))
    await rig.fire(note("b"))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(rig.background.drain(), 1)

    await asyncio.sleep(0)
    rig.check_journal()


@virtual
async def test_an_event_fired_by_a_handler_that_is_being_drained_is_not_told() -> None:
    rig = Rig()

    async def echoes(event: NoteCreated) -> None:
        await asyncio.sleep(1)
        await rig.fire(note(event.title + "!"))

    rig.add(stub(NoteCreated, echoes, delivery=Queued()))
    await rig.fire(note("a"))

    assert await rig.background.drain() == []
    assert [call.ended for call in rig.journal.calls] == [Ended.PASSED, Ended.NOT_STARTED]
    rig.check_journal()


@virtual
async def test_a_closing_loop_cancels_background_work_and_the_journal_knows() -> None:
    rig = Rig(stub(NoteCreated, after(50), delivery=Queued()), stub(NoteCreated, after(50), delivery=DETACHED))
    await rig.fire(note("a"))
    await asyncio.sleep(1)

    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(1)

    assert [call.problem for call in rig.journal.calls] == [HookGivenUp] * 2
    rig.check_journal()


@virtual
async def test_an_event_that_nobody_drains_for_is_not_lost_to_the_collector() -> None:
    told: list[str] = []

    async def fire() -> None:
        rig = Rig(stub(NoteCreated, listener(told, 1), delivery=Queued()), watched=False)
        for title in "ab":
            await rig.fire(note(title))

    await fire()
    await asyncio.sleep(5)

    assert [entry[0] for entry in told] == ["a", "b"]
