"""Queued and detached work: order, overflow, and a drain that ends within its bound and says what it gave up."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.hooks import Rig, after, deaf, stub
from tests.support.virtual import now, run, virtual
from treblehook.engine import DETACHED, BackgroundClosed, Ended, HookGivenUp, HookNotStarted, Queued, QueueFull
from treblehook.lifecycle import AddContext, Block, NoteCreated, SessionStart, Stop


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
