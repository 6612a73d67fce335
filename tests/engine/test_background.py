"""Queued and detached work: order, overflow, failures, and what is left when it is idle."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.hooks import Rig, after, deaf, stub
from tests.support.virtual import now, run, virtual
from treblehook.engine import DETACHED, Ended, HookNotStarted, Queued, QueueFull
from treblehook.lifecycle import AddContext, Block, NoteCreated, NoteDeleted, SessionStart, Stop


def note(title: str) -> NoteCreated:
    return NoteCreated(path="a.md", title=title)


def listener(told: list[str], seconds: float = 0) -> Callable[[NoteCreated], Awaitable[None]]:
    async def listens(event: NoteCreated) -> None:
        told.append(f"{event.title} at {now():g}")
        await asyncio.sleep(seconds)

    return listens


@virtual
async def test_a_queue_tells_one_event_after_the_other_and_nobody_waits() -> None:
    told: list[str] = []
    rig = Rig(stub(NoteCreated, listener(told, 10), delivery=Queued()))

    for title in "abc":
        await rig.fire(note(title))
    assert now() == 0

    assert await rig.background.drain(queued_seconds=31) == []
    assert told == ["a at 0", "b at 10", "c at 20"]
    rig.check_journal()


@virtual
async def test_a_stuck_queue_does_not_hold_up_another() -> None:
    told: list[str] = []
    rig = Rig(
        stub(NoteCreated, after(1000), name="stuck", delivery=Queued()),
        stub(NoteCreated, listener(told), delivery=Queued()),
    )

    await rig.fire(note("a"))
    await asyncio.sleep(1)

    assert told == ["a at 0"]
    await rig.background.drain()


@virtual
async def test_inline_handlers_come_first_and_queued_ones_keep_their_order() -> None:
    rig = Rig(
        stub(NoteCreated, name="queued", delivery=Queued(), priority=1),
        stub(NoteCreated, after(3), name="inline", priority=2),
        stub(NoteCreated, name="queued too", delivery=Queued(), priority=3),
    )

    await rig.fire(note("a"))

    assert rig.asked == ["inline", "queued", "queued too"]
    await rig.background.drain()


@virtual
async def test_a_queued_event_is_the_one_of_the_moment_of_the_dispatch() -> None:
    told: list[str] = []
    rig = Rig(stub(NoteCreated, listener(told, 5), delivery=Queued()))

    await rig.fire(note("a"))
    await rig.fire(note("b"))
    await rig.background.drain()

    assert [call.event for call in rig.journal.calls] == [note("a"), note("b")]
    assert [call.started for call in rig.journal.calls] == [0, 0]


@virtual
async def test_a_full_queue_drops_the_newest_and_the_dispatch_never_waits() -> None:
    told: list[str] = []
    rig = Rig(stub(NoteCreated, listener(told, 1), delivery=Queued(depth=3)))

    for title in "abcdef":
        await rig.fire(note(title))
    assert now() == 0
    await rig.background.drain()

    # One is under way, three wait.
    assert [entry[0] for entry in told] == ["a", "b", "c", "d"]
    assert [call.ended for call in rig.journal.calls][4:] == [Ended.NOT_STARTED] * 2
    assert rig.journal.calls[4].problem is QueueFull
    assert rig.journal.calls[4].error == "was not told of it: 3 events were waiting already"
    rig.check_journal()


@virtual
async def test_a_full_queue_that_blocks_makes_the_dispatch_wait_and_loses_nothing() -> None:
    told: list[str] = []
    rig = Rig(stub(NoteCreated, listener(told, 1), delivery=Queued(depth=2, overflow="block")))
    fired = []

    for title in "abcdef":
        await rig.fire(note(title))
        fired.append(now())

    assert fired == [0, 0, 0, 1, 2, 3]
    await rig.background.drain()
    assert [entry[0] for entry in told] == list("abcdef")
    rig.check_journal()


@virtual
async def test_dispatches_that_wait_for_room_get_it_in_their_order() -> None:
    told: list[str] = []
    rig = Rig(stub(NoteCreated, listener(told, 1), delivery=Queued(depth=1, overflow="block")))

    await asyncio.gather(*(rig.fire(note(title)) for title in "abcdef"))
    await rig.background.drain()

    assert [entry[0] for entry in told] == list("abcdef")


@virtual
async def test_detached_calls_run_beside_each_other() -> None:
    told: list[str] = []
    rig = Rig(*(stub(NoteCreated, listener(told, 5), name=name, delivery=DETACHED) for name in "xyz"))

    await rig.fire(note("a"))

    assert now() == 0
    assert await rig.background.drain(detached_seconds=6) == []
    assert told == ["a at 0"] * 3
    assert now() == 5
    rig.check_journal()


@pytest.mark.parametrize("delivery", [Queued(), DETACHED])
@pytest.mark.parametrize("given", [ValueError("broke"), asyncio.CancelledError(), 5, Block("no"), HookNotStarted("no file")])
@virtual
async def test_a_failure_in_the_background_is_journalled_and_the_next_call_is_made(delivery: Any, given: Any) -> None:
    rig = Rig(stub(NoteCreated, given, delivery=delivery))

    await rig.fire(note("a"))
    await rig.fire(note("b"))

    assert await rig.background.drain() == []
    assert [call.ended for call in rig.journal.calls] == [Ended.NOT_STARTED if isinstance(given, HookNotStarted) else Ended.FAILED] * 2
    rig.check_journal()


@pytest.mark.parametrize("delivery", [Queued(), DETACHED])
def test_what_is_no_exception_is_told_to_the_loop_and_the_next_call_is_made(delivery: Any) -> None:
    class Outside(BaseException):
        pass

    rigs = []

    async def main() -> None:
        rig = Rig(stub(NoteCreated, Outside("broke"), delivery=delivery))
        rigs.append(rig)
        await rig.fire(note("a"))
        await rig.fire(note("b"))
        assert await rig.background.drain() == []

    with pytest.raises(AssertionError, match="a background call broke down"):
        run(main())
    assert [call.ended for call in rigs[0].journal.calls] == [Ended.FAILED] * 2


@pytest.mark.parametrize("delivery", [Queued(), DETACHED])
@virtual
async def test_its_own_limit_holds_in_the_background(delivery: Any) -> None:
    rig = Rig(stub(NoteCreated, deaf(10), delivery=delivery, timeout=3.0))

    await rig.fire(note("a"))

    assert await rig.background.drain(queued_seconds=4, detached_seconds=4) == []
    assert rig.ends == [("hook", Ended.TIMED_OUT)]
    assert now() == 3
    await asyncio.sleep(10)


@virtual
async def test_answers_in_the_background_count_for_nothing() -> None:
    rig = Rig(
        stub(NoteCreated, Stop(), name="queued", delivery=Queued()),
        stub(NoteCreated, Stop(), name="detached", delivery=DETACHED),
        stub(NoteCreated, name="asked all the same"),
    )
    start = Rig(stub(SessionStart, AddContext("x"), delivery=Queued()))

    await rig.fire(note("a"))
    assert (await start.fire(SessionStart())).contributions == ()

    await rig.background.drain()
    await start.background.drain()
    assert sorted(rig.ends) == [("asked all the same", Ended.PASSED), ("detached", Ended.ANSWERED), ("queued", Ended.ANSWERED)]
    assert start.ends == [("hook", Ended.ANSWERED)]


@pytest.mark.parametrize("delivery", [Queued(), DETACHED])
@virtual
async def test_a_handler_that_was_removed_before_its_turn_is_not_asked(delivery: Any) -> None:
    told: list[str] = []
    handler = stub(NoteCreated, listener(told, 5), delivery=delivery)
    rig = Rig(handler)
    await rig.fire(note("a"))
    await rig.fire(note("b"))
    if delivery is not DETACHED:
        await asyncio.sleep(1)

    rig.registry.remove(handler)
    await rig.background.drain()

    assert told == (["a at 0"] if delivery is not DETACHED else [])
    assert [call.ended for call in rig.journal.calls][len(told) :] == [Ended.NOT_STARTED] * (2 - len(told))
    rig.check_journal()


@virtual
async def test_a_background_that_is_idle_holds_nothing() -> None:
    rig = Rig(stub(NoteCreated, delivery=Queued()), stub(NoteCreated, delivery=DETACHED))
    for _ in range(3):
        await rig.fire(note("a"))
        await asyncio.sleep(1)

        assert len(asyncio.all_tasks()) == 1
        assert not any(vars(rig.background).values())


@virtual
async def test_handlers_that_name_the_same_queue_share_it() -> None:
    told: list[str] = []
    shared = Queued(depth=1, queue="hook")
    rig = Rig(
        stub(NoteCreated, listener(told, 10), name="hook", delivery=shared),
        stub(NoteDeleted, lambda event: told.append(f"deleted at {now():g}"), name="hook", delivery=shared),
    )

    await rig.fire(note("a"))
    await rig.fire(NoteDeleted(path="a.md", existed=True))
    await rig.fire(note("lost"))
    gave_up = await rig.background.drain(queued_seconds=5)

    assert told == ["a at 0"]
    assert [(entry.handler.event, entry.pending) for entry in gave_up] == [(NoteCreated, 1), (NoteDeleted, 1)]
    assert [call.problem for call in rig.journal.calls][-1] is QueueFull
