"""Time limits: a wait ends at its deadline whatever the handler does, and a late answer counts for nothing."""

import asyncio

import pytest

from tests.support.hooks import CALL, Rig, after, deaf, stub
from tests.support.virtual import block, now, virtual
from treblehook.engine import DETACHED, Ended, HookTimedOut, Lane, Mode, OnFailure, Tier
from treblehook.lifecycle import Block, Deny, Event, NoteCreated, PermissionRequest, PreToolCall, Refuse, Rewrite, ToolGate

EVENT = PreToolCall(call=CALL)
SHARED = Lane("shared", 6.0)


@virtual
async def test_an_answer_within_the_limit_counts() -> None:
    rig = Rig(stub(PreToolCall, after(1, Block("no")), timeout=2.0))

    assert (await rig.fire(EVENT)).decision == Block("no")
    assert now() == 1


@virtual
async def test_the_wait_ends_at_the_limit() -> None:
    rig = Rig(stub(PreToolCall, after(5, Block("no")), timeout=2.0))

    assert (await rig.fire(EVENT)).decision is None
    assert now() == 2
    assert rig.ends == [("hook", Ended.TIMED_OUT)]
    assert rig.journal.calls[0].error == "was still running after 2 s, its time limit"
    assert rig.journal.calls[0].ms == 2000


@virtual
async def test_a_handler_that_does_not_heed_cancellation_is_left_behind() -> None:
    rig = Rig(stub(PreToolCall, deaf(10, Block("no")), timeout=2.0))

    assert (await rig.fire(EVENT)).decision is None
    assert now() == 2

    await asyncio.sleep(20)
    assert rig.ends == [("hook", Ended.TIMED_OUT)]
    assert rig.journal.calls[0].decision is None


@virtual
async def test_a_handler_that_fails_after_its_deadline_bothers_nobody() -> None:
    async def fails_late(event: Event) -> None:
        try:
            await asyncio.sleep(10)
        finally:
            raise ValueError("too late to matter")

    rig = Rig(stub(PreToolCall, fails_late, timeout=2.0))

    await rig.fire(EVENT)
    await asyncio.sleep(1)
    assert rig.ends == [("hook", Ended.TIMED_OUT)]


@virtual
async def test_an_answer_that_blocked_the_loop_past_the_limit_is_late() -> None:
    async def computes(event: Event) -> Block:
        block(5)
        return Block("no")

    rig = Rig(stub(PreToolCall, computes, timeout=2.0))

    assert (await rig.fire(EVENT)).decision is None
    assert rig.ends == [("hook", Ended.TIMED_OUT)]


@virtual
async def test_the_time_of_a_handler_starts_when_it_is_entered() -> None:
    async def hogs(event: Event) -> None:
        block(5)

    rig = Rig(
        stub(NoteCreated, after(1), name="quick", timeout=2.0, delivery=DETACHED),
        stub(NoteCreated, hogs, name="hogs", timeout=9.0),
    )

    await rig.fire(NoteCreated(path="a.md", title="a"))
    await rig.background.drain()

    assert rig.ends == [("quick", Ended.PASSED), ("hogs", Ended.PASSED)]


@virtual
async def test_a_closed_handler_that_runs_late_is_the_strictest_decision() -> None:
    rig = Rig(stub(PreToolCall, after(5), timeout=2.0, on_failure=OnFailure.CLOSED, name="guard"))

    outcome = await rig.fire(EVENT)

    assert outcome.decision == Block("PreToolCall hook guard failed: was still running after 2 s, its time limit")
    assert outcome.failure == "was still running after 2 s, its time limit"


@virtual
async def test_a_late_gate_stays_shut() -> None:
    rig = Rig(stub(ToolGate, deaf(9), timeout=2.0))

    assert isinstance((await rig.fire(ToolGate(call=CALL, input_json="{}"))).decision, Refuse)
    await asyncio.sleep(9)


@virtual
async def test_a_lane_shares_its_deadline_and_the_third_handler_is_cut() -> None:
    rig = Rig(*(stub(PreToolCall, after(2.5), name=name, lane=SHARED, on_failure=OnFailure.CLOSED) for name in "abcd"))

    outcome = await rig.fire(EVENT)

    assert now() == 6
    assert rig.ends == [("a", Ended.PASSED), ("b", Ended.PASSED), ("c", Ended.TIMED_OUT)]
    assert outcome.decision == Block("PreToolCall hook c failed: was still running after 6 s, the time that its hooks share")


@virtual
async def test_who_comes_after_the_deadline_of_an_open_lane_is_not_even_started() -> None:
    entered = []
    rig = Rig(
        stub(PreToolCall, after(9), name="a", lane=SHARED),
        stub(PreToolCall, lambda event: entered.append(event), name="b", lane=SHARED),
        stub(PreToolCall, Block("no"), name="c"),
    )

    assert (await rig.fire(EVENT)).decision == Block("no")
    assert rig.ends == [("a", Ended.TIMED_OUT), ("b", Ended.TIMED_OUT), ("c", Ended.ANSWERED)]
    assert entered == []


@virtual
async def test_the_shorter_of_the_own_limit_and_the_lanes_cuts() -> None:
    rig = Rig(
        stub(PreToolCall, after(9), name="a", lane=SHARED, timeout=4.0),
        stub(PreToolCall, after(9), name="b", lane=SHARED, timeout=4.0),
    )

    await rig.fire(EVENT)

    assert [call.error for call in rig.journal.calls] == [
        "was still running after 4 s, its time limit",
        "was still running after 6 s, the time that its hooks share",
    ]
    assert now() == 6


@virtual
async def test_every_dispatch_has_the_lanes_whole_time() -> None:
    rig = Rig(stub(PreToolCall, after(5), lane=SHARED))

    for _ in range(3):
        await rig.fire(EVENT)

    assert [call.ended for call in rig.journal.calls] == [Ended.PASSED] * 3


@virtual
async def test_another_lane_costs_this_one_no_time() -> None:
    rig = Rig(
        stub(PreToolCall, after(4), name="a", lane=SHARED),
        stub(PreToolCall, after(50), name="other", lane=Lane("other")),
        stub(PreToolCall, after(1, Block("no")), name="b", lane=SHARED),
    )

    assert (await rig.fire(EVENT)).decision == Block("no")


@virtual
async def test_a_hook_in_report_mode_costs_its_lane_no_time_and_is_bounded_by_it_all_the_same() -> None:
    rig = Rig(
        stub(PreToolCall, after(4), name="a", lane=SHARED),
        stub(PreToolCall, deaf(50, Block("no")), name="report", lane=SHARED, mode=Mode.REPORT),
        stub(PreToolCall, after(1, Rewrite(input={})), name="b", lane=SHARED),
    )

    outcome = await rig.fire(EVENT)

    assert outcome.value.call.input == {}
    assert now() == 4 + 6 + 1
    assert rig.ends == [("a", Ended.PASSED), ("report", Ended.TIMED_OUT), ("b", Ended.ANSWERED)]
    await asyncio.sleep(50)


@virtual
async def test_a_runtime_that_keeps_the_time_itself_is_believed() -> None:
    async def keeps(event: Event) -> None:
        await asyncio.sleep(7)
        raise HookTimedOut(5.0)

    rig = Rig(stub(PreToolCall, keeps, timeout=5.0, keeps_time=True))

    await rig.fire(EVENT)

    assert now() == 7
    assert rig.ends == [("hook", Ended.TIMED_OUT)]


@virtual
async def test_a_lane_bounds_a_runtime_that_keeps_the_time_itself() -> None:
    rig = Rig(stub(PreToolCall, after(7), timeout=5.0, keeps_time=True, lane=SHARED))

    await rig.fire(EVENT)

    assert now() == 6


@pytest.mark.parametrize("tier", list(Tier))
@virtual
async def test_a_late_first_answer_leaves_the_field_to_the_next(tier: Tier) -> None:
    rig = Rig(
        stub(PermissionRequest, after(3, Deny("late")), name="late", tier=tier, timeout=1.0),
        stub(PermissionRequest, after(3, Deny("in time")), name="next", tier=tier),
    )

    assert (await rig.fire(PermissionRequest(call=CALL))).decision == Deny("in time")
