"""Every row of murmur's dispatch (murmur.md 2.7, 4 and 5), played by stub handlers bound as that contract binds its own."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.contract_stubs import artifact, fired, observer
from tests.support.hooks import CALL, Rig, after, deaf, given_by
from tests.support.virtual import now, virtual
from treblehook.engine import (
    BackgroundClosed,
    BindError,
    Call,
    Ended,
    HookFailed,
    Mode,
    Queued,
    QueueFull,
    Watcher,
)
from treblehook.lifecycle import (
    AddContext,
    Artifact,
    ContextFull,
    Event,
    Message,
    ModelResponse,
    PreparedCall,
    Refuse,
    Reopen,
    ReplaceContext,
    SeedContext,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellOutcome,
    ShellRan,
    Stage,
    TaskEnd,
    TaskStart,
    ToolGate,
    ToolManifest,
    ToolRan,
    WriteManifests,
)

PREPARED = PreparedCall("bash", "rm x", "/usr/bin/bash", ("-c", "rm x"), script="rm x")
SHELL = ShellGate(call=CALL, prepared=PREPARED)
TOOL = ToolGate(call=CALL, input_json='{"command":"ls"}')
RAN = ToolRan(call=CALL, content="done")
SHELL_RAN = ShellRan(call=CALL, prepared=PREPARED, outcome=ShellOutcome(0, "", "", 3))
RESPONSE = ModelResponse(turn=0, text="t")
START = SessionStart()
FULL = ContextFull(messages=(Message("user", "u"),), tokens=991, ratio=0.991)
TASK = TaskStart(task="tsk_1")
TASK_END = TaskEnd(task="tsk_1", exit_status="ok")
END = SessionEnd(reason="closed")
OBSERVED: list[Event] = [START, TASK, RESPONSE, RAN, SHELL_RAN, FULL, TASK_END, END]


class WrongArm(HookFailed):
    """A contract's own kind of failure, which its log and trace must know again."""


# blocking artifacts, sections 4.1 to 4.3


@pytest.mark.parametrize("event", OBSERVED, ids=lambda event: type(event).__name__)
@virtual
async def test_case_036_038_whatever_goes_wrong_the_next_artifact_is_called(event: Event) -> None:
    kind = type(event)
    wrong = (HookFailed("err text"), HookFailed("trapped"), after(31), WrongArm("write-manifests", raw="[]"), RuntimeError("lift"))

    outcome, rig = await fired(event, *(artifact(kind, given) for given in wrong), artifact(kind, name="last"))

    assert rig.asked[-1] == "last"
    assert [end for _, end in rig.ends] == [Ended.FAILED, Ended.FAILED, Ended.TIMED_OUT, Ended.FAILED, Ended.FAILED, Ended.PASSED]
    assert (outcome.value, outcome.decision, outcome.contributions) == (event, None, ())
    assert [call.problem for call in rig.journal.calls][3] is WrongArm


@virtual
async def test_case_025_every_manifest_counts_in_order() -> None:
    first, second = (WriteManifests((ToolManifest("rg", text),)) for text in ("X", "Y"))
    outcome, _ = await fired(Stage(), artifact(Stage, first, name="a"), artifact(Stage), artifact(Stage, second, name="b"))
    assert given_by(outcome) == [("a", first), ("b", second)]


@virtual
async def test_every_artifact_of_an_inference_is_forwarded() -> None:
    outcome, _ = await fired(RESPONSE, artifact(ModelResponse, Artifact("1")), artifact(ModelResponse, Artifact("2")))
    assert [decision for _, decision in given_by(outcome)] == [Artifact("1"), Artifact("2")]


FIRST_WINS: list[tuple[Event, Any, Any]] = [
    (TASK, SeedContext((Message("user", "a"),)), SeedContext(())),
    (FULL, ReplaceContext((Message("user", "a"),)), ReplaceContext(())),
    (TASK_END, Reopen("again"), Reopen("once more")),
]


@pytest.mark.parametrize(("event", "first", "second"), FIRST_WINS)
@virtual
async def test_all_are_called_and_the_first_wins(event: Event, first: Any, second: Any) -> None:
    kind = type(event)
    outcome, rig = await fired(
        event, artifact(kind), artifact(kind, first, name="winner"), artifact(kind, second), artifact(kind, HookFailed("err"))
    )
    assert given_by(outcome) == [("winner", first)]
    assert len(rig.asked) == 4


@virtual
async def test_case_042_an_arm_that_the_event_does_not_honour_is_dropped() -> None:
    outcome, rig = await fired(RAN, artifact(ToolRan, WriteManifests(())))
    assert rig.ends == [("hook", Ended.FAILED)]
    assert (outcome.value, outcome.contributions) == (RAN, ())


@virtual
async def test_a_blocking_artifact_never_sees_two_calls_at_once_in_one_dispatch() -> None:
    _, rig = await fired(RAN, *(artifact(ToolRan, after(2)) for _ in range(3)))
    assert [call.started for call in rig.journal.calls] == [0, 2, 4]


# asynchronous artifacts, section 2.7


@virtual
async def test_case_056_the_loop_does_not_wait_for_observers_and_all_their_calls_finish() -> None:
    rig = Rig(observer(ToolRan, after(1)))

    for _ in range(5):
        await rig.fire(RAN)
    assert now() == 0

    assert await rig.background.drain() == []
    assert [call.ended for call in rig.journal.calls] == [Ended.PASSED] * 5
    assert now() == 5


@virtual
async def test_case_057_the_end_of_the_session_reaches_an_observer_before_the_session_is_over() -> None:
    told: list[Event] = []
    rig = Rig(observer(SessionEnd, lambda event: told.append(event)))

    await rig.fire(END)
    await rig.background.drain()

    assert told == [END]


@virtual
async def test_blocking_artifacts_come_first() -> None:
    _, rig = await fired(RAN, observer(ToolRan, name="observer"), artifact(ToolRan, after(3), name="blocking"))
    assert rig.asked == ["blocking", "observer"]


@virtual
async def test_case_058_five_events_more_than_a_stalled_queue_holds_lose_the_newest_five() -> None:
    told: list[Event] = []
    release = asyncio.Event()

    async def stalls(event: Event) -> None:
        await release.wait()
        told.append(event)

    rig = Rig(observer(ToolRan, stalls, timeout=None))
    events = [ToolRan(call=CALL, content=f"{number}") for number in range(1 + 1024 + 5)]
    for event in events:
        await rig.fire(event)
    assert now() == 0

    release.set()
    assert await rig.background.drain() == []

    assert told == events[:-5]
    lost = [call for call in rig.seen.finished_calls if call.problem is QueueFull]
    assert [call.event for call in lost] == events[-5:]
    rig.check_journal()


@virtual
async def test_a_queue_that_blocks_makes_the_agent_wait_and_loses_nothing() -> None:
    rig = Rig(observer(ToolRan, after(1), delivery=Queued(depth=2, overflow="block")))

    for _ in range(6):
        await rig.fire(RAN)

    assert now() == 3
    await rig.background.drain()
    assert [call.ended for call in rig.journal.calls] == [Ended.PASSED] * 6


@virtual
async def test_case_060_061_an_observers_output_is_discarded_and_its_error_known() -> None:
    outcome, rig = await fired(
        FULL, observer(ContextFull, ReplaceContext(()), name="discarded"), observer(ContextFull, HookFailed("err"), name="err")
    )
    assert outcome.contributions == ()
    assert rig.ends == [("discarded", Ended.ANSWERED), ("err", Ended.FAILED)]


@virtual
async def test_case_064_a_stuck_observer_does_not_delay_another() -> None:
    rig = Rig(observer(ToolRan, deaf(100), timeout=None, name="stuck"), observer(ToolRan, name="quick"))
    for _ in range(3):
        await rig.fire(RAN)
    await asyncio.sleep(1)
    assert [call.ended for call in rig.journal.calls if call.handler.name == "quick"] == [Ended.PASSED] * 3
    await rig.background.drain()
    await asyncio.sleep(100)


@virtual
async def test_the_drain_ends_within_its_budget_and_reports_what_it_gave_up() -> None:
    rig = Rig(observer(ToolRan, deaf(100), timeout=None, name="stuck"), observer(ToolRan, after(5), name="slow"))
    for _ in range(2):
        await rig.fire(RAN)

    gave_up = await rig.background.drain(queued_seconds=15)

    assert now() == 15
    assert [(entry.handler.name, entry.pending) for entry in gave_up] == [("stuck", 2)]
    rig.check_journal()
    await asyncio.sleep(100)


@virtual
async def test_a_dispatch_after_the_drain_is_no_overflow() -> None:
    rig = Rig(observer(ToolRan))
    await rig.background.drain()
    await rig.fire(RAN)
    assert rig.journal.calls[0].problem is BackgroundClosed


def test_an_observer_cannot_sit_where_an_answer_is_needed() -> None:
    for kind in (ShellGate, ToolGate):
        with pytest.raises(BindError):
            observer(kind)


# policies, section 5


@virtual
async def test_case_068_070_a_policy_refuses_with_its_reason_or_lets_pass() -> None:
    outcome, _ = await fired(SHELL, artifact(ShellGate, Refuse("protected branch"), name="protect-shell"))
    assert outcome.blocked == Refuse("protected branch")
    assert outcome.by is not None
    assert outcome.by.name == "protect-shell"
    assert outcome.failure is None

    outcome, _ = await fired(SHELL, artifact(ShellGate), artifact(ShellGate))
    assert outcome.blocked is None


NOT_CLEAN: dict[str, Any] = {
    "trap": HookFailed("hook 'p' on-shell trapped: unreachable"),
    "poisoned by an earlier trap": HookFailed("cannot enter component instance"),
    "deadline": after(31),
    "deadline not heeded": deaf(31),
    "memory": HookFailed("resource limits exceeded"),
    "lift": RuntimeError("bad string pointer"),
    "another arm": WrongArm("artifact"),
    "a decision of another event": AddContext("x"),
    "err": HookFailed("x"),
    "missing function": Refuse.__name__,
    "empty reason": Refuse(""),
    "blank reason": Refuse(" \n"),
    "true": True,
    "cancelled itself": asyncio.CancelledError(),
}


@pytest.mark.parametrize("event", [SHELL, TOOL], ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("given", NOT_CLEAN)
@virtual
async def test_case_072_078_anything_but_a_clean_pass_refuses(given: str, event: Event) -> None:
    kind = type(event)
    outcome, rig = await fired(event, artifact(kind, NOT_CLEAN[given], name="p"), artifact(kind, name="later"))

    assert isinstance(outcome.blocked, Refuse)
    assert outcome.blocked.reason.startswith(f"{kind.__name__} hook p failed: ")
    assert outcome.failure
    assert rig.asked == ["p"]
    await asyncio.sleep(31)


@virtual
async def test_case_080_the_first_refusal_stops_the_walk() -> None:
    outcome, rig = await fired(
        SHELL, artifact(ShellGate, name="a"), artifact(ShellGate, Refuse("no"), name="b"), artifact(ShellGate, Refuse("never"), name="c")
    )
    assert outcome.blocked == Refuse("no")
    assert rig.asked == ["a", "b"]


@virtual
async def test_case_086_a_gate_asks_the_policies_of_its_own_binding_only() -> None:
    _, rig = await fired(SHELL, artifact(ToolGate, Refuse("no")), artifact(ShellGate, name="shell"), artifact(ShellRan, name="observes"))
    assert rig.asked == ["shell"]


def test_case_096_nothing_makes_a_policy_permissive() -> None:
    for mode in (Mode.REPORT, Mode.OFF):
        with pytest.raises(BindError):
            artifact(ShellGate, mode=mode)


@virtual
async def test_case_097_a_refusal_that_cannot_be_recorded_fails_the_dispatch() -> None:
    class Trace(Watcher):
        def finished(self, calls: Sequence[Call]) -> None:
            raise OSError("the trace is not writable")

    rig = Rig(artifact(ShellGate, Refuse("no")))
    rig.journal.watchers.append(Trace())

    with pytest.raises(OSError, match="not writable"):
        await rig.fire(SHELL)
