"""Handlers that give up when they are cancelled are asked in place; for everybody else nothing is different."""

import asyncio
from typing import Any

from tests.support.hooks import CALL, Rig, after, stub
from tests.support.virtual import block, now, virtual
from treblehook.engine import DETACHED, Ended, Handler, Lane
from treblehook.lifecycle import Block, Event, NoteCreated, PreToolCall

EVENT = PreToolCall(call=CALL)


def cancellable(given: Any = None, event: type[Event] = PreToolCall, **options: Any) -> Handler:
    return stub(event, given, cancellable=True, **options)


@virtual
async def test_it_runs_in_the_task_that_asks() -> None:
    tasks = []
    rig = Rig(cancellable(lambda event: tasks.append(asyncio.current_task()), timeout=2.0))

    await rig.fire(EVENT)

    assert tasks == [asyncio.current_task()]


@virtual
async def test_the_wait_ends_at_the_limit() -> None:
    rig = Rig(cancellable(after(5, Block("late")), timeout=2.0), stub(PreToolCall, Block("next"), name="next"))

    assert (await rig.fire(EVENT)).decision == Block("next")
    assert now() == 2
    assert rig.ends == [("hook", Ended.TIMED_OUT), ("next", Ended.ANSWERED)]
    assert rig.journal.calls[0].error == "was still running after 2 s, its time limit"


@virtual
async def test_the_lane_is_shared_with_the_others() -> None:
    lane = Lane("shared", 6.0)
    rig = Rig(
        stub(PreToolCall, after(4), name="a", lane=lane),
        cancellable(after(4, Block("b")), name="b", lane=lane),
        cancellable(Block("c"), name="c", lane=lane),
    )

    assert (await rig.fire(EVENT)).decision is None
    assert now() == 6
    assert [ended for _, ended in rig.ends] == [Ended.PASSED, Ended.TIMED_OUT, Ended.TIMED_OUT]


@virtual
async def test_a_late_answer_of_one_that_blocked_the_loop_counts_for_nothing() -> None:
    def blocks(event: Event) -> Block:
        block(3)
        return Block("late")

    rig = Rig(cancellable(blocks, timeout=2.0))

    assert (await rig.fire(EVENT)).decision is None
    assert rig.ends == [("hook", Ended.TIMED_OUT)]


@virtual
async def test_its_own_timeout_error_is_a_failure_and_no_deadline() -> None:
    rig = Rig(cancellable(TimeoutError("of its own"), timeout=2.0))

    await rig.fire(EVENT)

    assert rig.ends == [("hook", Ended.FAILED)]


@virtual
async def test_cancelling_the_dispatch_goes_through() -> None:
    rig = Rig(cancellable(after(5), timeout=10.0))
    firing = asyncio.ensure_future(rig.fire(EVENT))
    await asyncio.sleep(1)

    firing.cancel()
    await asyncio.wait({firing})

    assert firing.cancelled()
    assert now() == 1
    assert [call.ended for call in rig.journal.calls] == [Ended.FAILED]


@virtual
async def test_detached_it_ends_at_its_limit_too() -> None:
    rig = Rig(cancellable(after(5), NoteCreated, timeout=2.0, delivery=DETACHED))

    await rig.fire(NoteCreated(path="a.md", title="A"))
    assert await rig.background.drain(detached_seconds=60) == []

    assert rig.ends == [("hook", Ended.TIMED_OUT)]
    assert now() == 2
