"""The journal: every call planned once and finished once, whatever becomes of it; watchers hear of all of them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.hooks import CALL, Rig, after, stub
from tests.support.virtual import now, virtual
from treblehook.engine import DETACHED, Answer, Call, Ended, Journal, Queued, Tier, Watcher
from treblehook.lifecycle import Block, NoteCreated, PreToolCall, Rewrite

EVENT = PreToolCall(call=CALL)
NOTE = NoteCreated(path="a.md", title="a")


@pytest.mark.parametrize("watched", [True, False])
@virtual
async def test_a_call_has_its_place_its_time_and_its_event(watched: bool) -> None:
    rig = Rig(
        stub(PreToolCall, after(1), name="a"),
        stub(PreToolCall, after(2, Rewrite(input={"n": 1})), name="b"),
        stub(PreToolCall, after(3), name="c"),
        watched=watched,
    )

    await rig.fire(EVENT)

    assert [(call.position, call.started, call.stopped, call.ms) for call in rig.journal.calls] == [
        (1, 0, 1, 1000),
        (2, 1, 3, 2000),
        (3, 3, 6, 3000),
    ]
    assert [call.event.call.input for call in rig.journal.calls if isinstance(call.event, PreToolCall)] == [
        {"command": "ls"},
        {"command": "ls"},
        {"n": 1},
    ]
    assert [call.end for call in rig.journal.calls] == [None if not watched else Ended.PASSED, Ended.ANSWERED, Ended.PASSED]
    assert [call.ended for call in rig.journal.calls] == [Ended.PASSED, Ended.ANSWERED, Ended.PASSED]


@virtual
async def test_a_call_is_planned_before_it_is_made_and_finished_when_its_dispatch_is_over() -> None:
    order: list[str] = []

    class Listens(Watcher):
        def planned(self, call: Call) -> None:
            order.append(f"planned {call.handler.name}")
            assert call.ended is None
            assert call.ms == 0

        def finished(self, calls: Sequence[Call]) -> None:
            order.append(f"finished {[call.handler.name for call in calls]}")

    def asks(name: str) -> Callable[[PreToolCall], None]:
        return lambda event: order.append(f"asked {name}")

    rig = Rig(*(stub(PreToolCall, asks(name), name=name) for name in "ab"))
    rig.journal.watchers.append(Listens())

    await rig.fire(EVENT)

    assert order == ["planned a", "asked a", "planned b", "asked b", "finished ['a', 'b']"]


@virtual
async def test_the_end_of_a_background_call_is_told_when_it_is_over() -> None:
    rig = Rig(
        stub(NoteCreated, after(5), delivery=DETACHED, name="detached"), stub(NoteCreated, after(7), delivery=Queued(), name="queued")
    )

    await rig.fire(NOTE)
    assert rig.seen.finished_calls == []
    assert [call.handler.name for call in rig.seen.planned_calls] == ["detached", "queued"]

    await asyncio.sleep(6)
    assert [call.handler.name for call in rig.seen.finished_calls] == ["detached"]
    await asyncio.sleep(2)
    rig.check_journal()


@virtual
async def test_a_journal_keeps_the_newest_calls_only() -> None:
    rig = Rig(stub(PreToolCall), watched=False)
    rig.dispatcher.journal = journal = Journal(keep=3, clock=now)

    for _ in range(10):
        await rig.fire(EVENT)

    assert len(journal.calls) == 3


@pytest.mark.parametrize("given", [None, Block("no"), ValueError("x")])
@pytest.mark.parametrize("options", [{}, {"timeout": 5.0}, {"tier": Tier.CONFIG}])
@virtual
async def test_a_journal_that_is_off_keeps_nothing_and_still_tells_its_watchers(given: Any, options: dict[str, Any]) -> None:
    for watched in (True, False):
        rig = Rig(stub(PreToolCall, given, **options), stub(PreToolCall, name="next", tier=Tier.PLUGIN), watched=watched, on=False)

        await rig.fire(EVENT)

        assert rig.ends == []
        assert len(rig.seen.finished_calls) == (0 if not watched else 1 if isinstance(given, Block) else 2)
        rig.check_journal()


@virtual
async def test_a_watcher_that_fails_fails_the_dispatch() -> None:
    class Full(Watcher):
        def finished(self, calls: Sequence[Call]) -> None:
            raise OSError("no space left")

    rig = Rig(stub(PreToolCall, Block("no")))
    rig.journal.watchers.append(Full())

    with pytest.raises(OSError, match="no space left"):
        await rig.fire(EVENT)


@pytest.mark.parametrize("options", [{}, {"timeout": 5.0}])
@virtual
async def test_a_watcher_that_fails_beforehand_is_no_failure_of_the_hook(options: dict[str, Any]) -> None:
    asked: list[str] = []

    class Broken(Watcher):
        def planned(self, call: Call) -> None:
            if call.handler.name == "second":
                raise OSError("the terminal is gone")

    rig = Rig(
        *(stub(PreToolCall, lambda event: asked.append("asked"), name=name, **options) for name in ("first", "second")),
        watched=False,
    )
    rig.journal.watchers.append(Broken())

    with pytest.raises(OSError, match="the terminal is gone"):
        await rig.fire(EVENT)

    assert asked == ["asked"]
    assert rig.ends[0] == ("first", Ended.PASSED)


def test_the_zero_of_a_clock_is_a_time_like_any_other() -> None:
    journal = Journal(clock=lambda: 0.0)
    call = journal.plan(stub(PreToolCall), EVENT, 1)
    assert call.ended is None

    journal.answered(call, Answer(None))

    assert call.ended is Ended.PASSED
    assert call.ms == 0
