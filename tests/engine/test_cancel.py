"""Cancelling a dispatch wherever it waits, and exceptions that are no failures of a hook."""

import asyncio
from typing import Any

import pytest

from tests.support.hooks import CALL, Rig, after, deaf, stub
from tests.support.virtual import now, run, virtual
from treblehook.engine import Ended, HookGivenUp, Lane, OnFailure, Queued
from treblehook.lifecycle import AddContext, Block, Event, NoteCreated, PreToolCall, PromptSubmitted

EVENT = PreToolCall(call=CALL)
NOTE = NoteCreated(path="a.md", title="a")

WAITS: dict[str, dict[str, Any]] = {
    "bare await": {},
    "own limit": {"timeout": 60.0},
    "lane's limit": {"lane": Lane("lane", 60.0)},
}


async def cancelled_after(rig: Rig, event: Event, seconds: float) -> None:
    task = asyncio.ensure_future(rig.fire(event))
    await asyncio.sleep(seconds)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("wait", WAITS)
@virtual
async def test_cancelling_ends_the_wait_for_a_handler_at_once(wait: str, watched: bool) -> None:
    rig = Rig(stub(PreToolCall, after(30), **WAITS[wait]), stub(PreToolCall, name="next"), watched=watched)

    await cancelled_after(rig, EVENT, 5)

    assert now() == 5
    assert rig.ends == [("hook", Ended.FAILED)]
    assert rig.journal.calls[0].problem is HookGivenUp
    rig.check_journal()
    await asyncio.sleep(0)


@virtual
async def test_a_limited_handler_that_does_not_heed_cancellation_does_not_hold_up_the_cancelled_dispatch() -> None:
    rig = Rig(stub(PreToolCall, deaf(30, Block("no")), timeout=60.0))

    await cancelled_after(rig, EVENT, 5)

    assert now() == 5
    await asyncio.sleep(60)
    assert rig.ends == [("hook", Ended.FAILED)]


@virtual
async def test_cancelling_in_the_moment_in_which_the_handler_fails_leaves_nothing_behind() -> None:
    rig = Rig()

    async def fails(event: Event) -> None:
        await asyncio.sleep(0)
        task.cancel()
        raise ValueError("at the same time")

    rig.add(stub(PreToolCall, fails, timeout=60.0))
    task = asyncio.ensure_future(rig.fire(EVENT))
    with pytest.raises(asyncio.CancelledError):
        await task
    rig.check_journal()


@virtual
async def test_cancelling_the_wait_for_room_gives_the_event_up() -> None:
    told = []

    async def listens(event: NoteCreated) -> None:
        await asyncio.sleep(30)
        told.append(event.title)

    rig = Rig(stub(NoteCreated, listens, delivery=Queued(depth=1, overflow="block")))
    for title in ("under way", "waits"):
        await rig.fire(NoteCreated(path="a.md", title=title))

    await cancelled_after(rig, NoteCreated(path="a.md", title="no room"), 5)

    assert [call.ended for call in rig.journal.calls] == [None, None, Ended.FAILED]
    assert rig.journal.calls[2].problem is HookGivenUp
    assert await rig.background.drain(queued_seconds=100) == []
    assert told == ["under way", "waits"]
    rig.check_journal()


@virtual
async def test_an_event_that_got_room_in_the_moment_of_the_cancellation_is_told_once() -> None:
    gate = asyncio.Event()
    told = []

    async def listens(event: NoteCreated) -> None:
        if event.title == "under way":
            await gate.wait()
        told.append(event.title)

    rig = Rig(stub(NoteCreated, listens, delivery=Queued(depth=1, overflow="block")))
    for title in ("under way", "waits"):
        await rig.fire(NoteCreated(path="a.md", title=title))
    task = asyncio.ensure_future(rig.fire(NoteCreated(path="a.md", title="third")))
    await asyncio.sleep(1)

    gate.set()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})

    await rig.background.drain()
    rig.check_journal()
    ended = [call.ended for call in rig.journal.calls]
    assert told == ["under way", "waits", "third"][: 2 + (ended[2] is Ended.PASSED)]


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("wait", WAITS)
@virtual
async def test_a_handler_that_cancels_itself_has_failed(wait: str, watched: bool) -> None:
    rig = Rig(
        stub(PreToolCall, asyncio.CancelledError(), on_failure=OnFailure.CLOSED, name="guard", **WAITS[wait]),
        watched=watched,
    )

    outcome = await rig.fire(EVENT)

    assert outcome.decision == Block("PreToolCall hook guard failed: it cancelled itself")
    assert rig.ends == [("guard", Ended.FAILED)]


@virtual
async def test_a_handler_may_be_cut_by_its_own_timeout_within() -> None:
    async def bounded(event: Event) -> Block:
        try:
            async with asyncio.timeout(1):
                await asyncio.sleep(5)
        except TimeoutError:
            return Block("took too long")
        raise AssertionError

    assert (await Rig(stub(PreToolCall, bounded)).fire(EVENT)).decision == Block("took too long")


@virtual
async def test_the_hosts_own_timeout_ends_a_dispatch() -> None:
    rig = Rig(stub(PreToolCall, after(30)))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await rig.fire(EVENT)

    assert now() == 2
    rig.check_journal()


@virtual
async def test_a_dispatch_in_a_task_that_is_being_cancelled_still_works() -> None:
    rig = Rig(stub(PreToolCall, after(1, Block("no")), timeout=5.0))
    ends = []

    async def host() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ends.append(await rig.fire(EVENT))

    task = asyncio.ensure_future(host())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait({task})

    assert ends[0].decision == Block("no")


class Outside(BaseException):
    """What a test runner or a host raises to get out."""


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("error", [Outside(), GeneratorExit()])
@virtual
async def test_what_is_no_exception_goes_through_to_the_host(wait: str, watched: bool, on: bool, error: BaseException) -> None:
    rig = Rig(stub(PreToolCall, error, **WAITS[wait]), stub(PreToolCall, name="next"), watched=watched, on=on)

    with pytest.raises(type(error)):
        await rig.fire(EVENT)

    assert rig.ends == ([("hook", Ended.FAILED)] if on else [])
    rig.check_journal()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
@pytest.mark.parametrize("wait", WAITS)
def test_exit_and_interrupt_reach_the_process(error: BaseException, wait: str) -> None:
    rigs = []

    async def main() -> None:
        rigs.append(Rig(stub(PreToolCall, error, **WAITS[wait])))
        await rigs[0].fire(EVENT)

    with pytest.raises(type(error)):
        run(main())
    assert [call.ended for call in rigs[0].journal.calls] == [Ended.FAILED]


@virtual
async def test_a_cancelled_dispatch_keeps_what_was_journalled_before() -> None:
    rig = Rig(
        stub(PromptSubmitted, AddContext("one"), name="a"),
        stub(PromptSubmitted, after(30), name="b"),
        watched=True,
    )

    await cancelled_after(rig, PromptSubmitted(prompt="p"), 1)

    assert [(call.handler.name, call.ended) for call in rig.seen.finished_calls] == [("a", Ended.ANSWERED), ("b", Ended.FAILED)]
