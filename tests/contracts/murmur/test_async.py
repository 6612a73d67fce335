"""Hooks that nobody waits for (murmur.md 2.7, cases 56 to 67)."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from tests.support.guests import python_scripted
from tests.support.murmur_guests import DEFECTS, Arm, Errs, hook
from tests.support.murmur_rig import END, FULL, OBSERVED, RAN, RESPONSE, SHELL_RAN, START, TASK_END, MurmurRig, Stall
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.engine import Ended

COUNT = {"on-tool-call": "seen.append(event.turn)", "on-session-end": "said(seen)"}


def config(code: dict[str, str]) -> Grant:
    return Grant(config=json.dumps(code))


async def stalled(rig: MurmurRig, overflow: str = "drop") -> Stall:
    """A hook `stalls` whose first call stays in the host, and after it counts its calls."""
    stall = Stall(rig)
    code = {**COUNT, "on-session-start": "tokens.count('x')"}
    rig.hook("stalls", python_scripted().read_bytes(), mode="async", overflow=overflow, grant=config(code))
    await rig.start()
    await rig.fire(START)
    await stall.entered()
    return stall


async def test_case_056_and_057_the_loop_does_not_wait_and_all_calls_finish(rig: MurmurRig) -> None:
    stall = await stalled(rig)

    for turn in range(5):
        await rig.fire(replace(RAN, turn=turn))
    await rig.fire(END)
    assert rig.sink.lines == []

    stall.release.set()
    assert await rig.drain() == []
    assert rig.sink.of("stalls") == ["[0, 1, 2, 3, 4]"]


async def test_case_058_a_full_queue_loses_the_newest_and_says_so(rig: MurmurRig) -> None:
    stall = await stalled(rig)

    for turn in range(1024 + 5):
        await rig.fire(replace(RAN, turn=turn))
    assert rig.sink.faults == [("stalls", "on-tool-call", "queue-overflow")] * 5
    assert rig.sink.lines == []

    stall.release.set()
    assert await rig.drain() == []

    assert rig.sink.faults == [("stalls", "on-tool-call", "queue-overflow")] * 5
    (line,) = rig.sink.of("stalls")
    assert all(word in line for word in ("stalls", "5 events", "1024", "on_overflow: drop"))
    done = [call.event for call in rig.journal.calls if call.ended is Ended.PASSED]
    assert done == [START, *(replace(RAN, turn=turn) for turn in range(1024))]


async def test_case_059_a_queue_that_blocks_loses_nothing(rig: MurmurRig) -> None:
    stall = await stalled(rig, "block")
    for turn in range(1024):
        await rig.fire(replace(RAN, turn=turn))

    waiting = asyncio.ensure_future(rig.fire(replace(RAN, turn=1024)))
    await asyncio.sleep(0.05)
    assert not waiting.done()

    stall.release.set()
    await waiting
    await rig.fire(END)
    await rig.drain()

    assert rig.sink.of("stalls") == [str(list(range(1025)))]
    assert ("stalls", "on-tool-call", "queue-overflow") not in rig.sink.faults


async def test_ten_thousand_events_stay_in_order_and_none_is_lost(rig: MurmurRig) -> None:
    code = {
        "on-tool-call": "seen.append(event.turn)",
        "on-shell": "seen.append(event.turn)",
        "on-session-end": "said((len(seen), seen == list(range(len(seen)))))",
    }
    rig.hook("counts", python_scripted().read_bytes(), mode="async", overflow="block", grant=config(code))
    await rig.start()

    for turn in range(10_000):
        await rig.fire(replace(SHELL_RAN if turn % 3 else RAN, turn=turn))
    await rig.fire(END)
    await rig.drain(60)

    assert rig.sink.lines == [("counts", "(10000, True)")]
    assert len(rig.journal.calls) == 10_001


async def test_ten_thousand_events_at_once_are_all_accounted_for(rig: MurmurRig) -> None:
    rig.hook("quick", hook(), mode="async")
    await rig.start()

    for turn in range(10_000):
        await rig.fire(replace(RAN, turn=turn))
    await rig.drain(60)

    lost = len(rig.sink.faults)
    done = [call.event.turn for call in rig.journal.calls if call.ended is Ended.PASSED]
    assert len(done) + lost == 10_000
    assert done == sorted(done)
    assert [line for line in rig.sink.of("quick") if f"{lost} events" in line] or not lost


async def test_case_060_what_goes_wrong_is_logged_and_traced(rig: MurmurRig) -> None:
    rig.limits = HookLimits(deadline_seconds=0.5, memory_bytes=1024 * 1024)
    rig.hook("errs", hook({"on-shell": Errs("no shovel")}), mode="async")
    for name, body in DEFECTS.items():
        rig.hook(name, hook({"on-shell": body}), mode="async")
    await rig.start()

    await rig.fire(SHELL_RAN)
    await rig.drain()

    assert rig.sink.of("errs") == ["no shovel"]
    assert sorted(name for name, _ in rig.sink.lines) == sorted(["errs", *DEFECTS])
    assert sorted(rig.sink.faults) == sorted((name, "on-shell", "error") for name in ("errs", *DEFECTS))


@pytest.mark.parametrize(
    ("binding", "arm"),
    [
        ("on-task-start", Arm("seed-context", [("user", '"x"')])),
        ("on-inference", Arm("artifact", "{}")),
        ("on-compaction", Arm("replace-context", [])),
        ("on-task-end", Arm("reopen-task", "x")),
    ],
)
async def test_case_061_its_output_is_discarded_silently(rig: MurmurRig, binding: str, arm: Arm) -> None:
    rig.hook("async", hook({binding: arm}), binding=binding, mode="async", policy="none")
    await rig.start()

    outcome = await rig.fire(OBSERVED[binding])
    await rig.drain()

    assert outcome.contributions == ()
    assert rig.sink.lines == []
    assert rig.sink.faults == []


async def test_case_062_an_arm_that_is_not_honoured_is_a_fault_nonetheless(rig: MurmurRig) -> None:
    rig.hook("async", hook({"on-tool-call": Arm("reopen-task", "x"), "on-shell": Arm("deny", "x")}), mode="async")
    await rig.start()

    for event in (RAN, SHELL_RAN):
        await rig.fire(event)
    await rig.drain()

    assert rig.sink.faults == [("async", "on-tool-call", "reopen-task"), ("async", "on-shell", "deny")]
    assert len(rig.sink.lines) == 2


async def test_case_063_who_is_not_done_at_the_end_is_abandoned_and_told(rig: MurmurRig) -> None:
    stall = await stalled(rig)
    await rig.fire(RAN)
    await rig.fire(END)

    gave_up = await rig.drain(0.1)
    stall.release.set()

    assert sum(entry.pending for entry in gave_up) == 3
    (line,) = rig.sink.of("stalls")
    assert all(word in line for word in ("stalls", "100 ms"))
    assert rig.sink.faults == [("stalls", "drain", "timeout")]


async def test_case_064_a_stuck_hook_does_not_delay_another(rig: MurmurRig) -> None:
    rig.hook("quick", hook({"on-tool-call": Errs("told")}), mode="async")
    stall = await stalled(rig)

    await rig.fire(RAN)
    while not rig.sink.lines:
        await asyncio.sleep(0.01)

    assert rig.sink.lines == [("quick", "told")]
    stall.release.set()


async def test_case_065_it_has_its_variables_and_its_grant(rig: MurmurRig) -> None:
    rig.environment = {"MURMUR_OTEL_ENDPOINT": "http://127.0.0.1:1"}
    code = {"on-shell": "open('seen', 'w').write(os.environ['MURMUR_OTEL_ENDPOINT'])"}
    rig.hook("async", python_scripted().read_bytes(), mode="async", grant=Grant(scope="state", config=json.dumps(code)))
    await rig.start()

    await rig.fire(SHELL_RAN)
    await rig.drain()

    assert (rig.accessible / "state" / "seen").read_text() == "http://127.0.0.1:1"
    assert rig.sink.lines == []


async def test_case_067_a_late_event_still_tells_of_its_moment(rig: MurmurRig) -> None:
    rig.hook("slow", python_scripted().read_bytes(), mode="async", grant=config({"on-session-end": "said(event.total_turns)"}))
    stall = await stalled(rig)

    await rig.fire(replace(END, requests=7))
    stall.release.set()
    await rig.drain()

    assert rig.sink.of("slow") == ["7"]


async def test_blocking_hooks_come_first(rig: MurmurRig) -> None:
    rig.hook("async", hook(), mode="async")
    rig.hook("blocking", hook())
    await rig.start()

    await rig.fire(RESPONSE)
    await rig.drain()

    assert [call.handler.name for call in rig.journal.calls] == ["blocking", "async"]


async def test_what_comes_after_the_drain_is_ignored(rig: MurmurRig) -> None:
    rig.hook("async", hook({"on-task-end": Errs("told")}), mode="async")
    await rig.start()

    await rig.drain()
    for event in (TASK_END, FULL):
        await rig.fire(event)

    assert rig.sink.lines == []
    assert rig.sink.faults == []
