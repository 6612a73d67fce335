"""A deadline is kept whatever the process does. The clock is turned by the tests, so nothing here depends on speed."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.processes import Ear, alive, python, until
from treblehook.runtimes.process import Limits, ProcessRuntime, TimedOut

HOUR = 3600.0
PATIENT = Limits(grace_seconds=HOUR)
# The line tells that the process is where the test wants it.
SETSID = "import os,sys,time; pid = os.fork(); (os.setsid(), print(os.getpid(), flush=True), time.sleep(1000)) if not pid else {then}"


async def timed_out(runtime: ProcessRuntime, argv: list[str], clock: Clock, ear: Ear, limits: Limits = PATIENT) -> list[int]:
    """Run into the deadline, once `argv` has told its process ids in a line; gives these."""
    task = asyncio.create_task(runtime.run(argv, b"", limits=limits, timeout_seconds=HOUR, on_output=ear))
    pids = [int(word) for word in (await ear.line()).split()]
    await clock.advance(HOUR - 60)
    assert not task.done()
    await clock.advance(60)
    assert task.done(), "the answer waits for something else than the deadline"
    with pytest.raises(TimedOut) as caught:
        await task
    assert caught.value.seconds == HOUR
    assert caught.value.program == argv[0]
    return pids


async def test_a_sleeping_process_is_ended(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    (pid,) = await timed_out(runtime, ["/bin/sh", "-c", "echo $$; exec sleep 1000"], clock, ear)

    await until(lambda: not alive(pid))


async def test_without_a_turned_clock_too(runtime: ProcessRuntime) -> None:
    pids: list[int] = []

    with pytest.raises(TimedOut, match=r"sleep: not finished after 0.05 s"):
        await runtime.run(["sleep", "1000"], b"", timeout_seconds=0.05, on_started=pids.append)

    await until(lambda: not alive(pids[0]))


async def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    (pid,) = await timed_out(runtime, ["/bin/sh", "-c", "trap '' TERM; echo $$; exec sleep 1000"], clock, ear)

    await clock.advance(HOUR - 60)
    assert alive(pid), "the answer came, but the grace is not over"
    await clock.advance(60)
    await until(lambda: not alive(pid))


async def test_a_process_may_use_the_grace_to_clean_up(runtime: ProcessRuntime, clock: Clock, ear: Ear, tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    # The shell also says that its sleep was terminated: with its outputs gone it would die of that.
    script = f"trap 'sleep 0.05; echo >{mark}; exit' TERM; echo $$; while :; do sleep 0.01; done"
    (pid,) = await timed_out(runtime, ["/bin/sh", "-c", script], clock, ear)

    await until(lambda: not alive(pid))
    assert mark.exists()


async def test_the_whole_group_is_ended(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    pids = await timed_out(runtime, ["/bin/sh", "-c", "sleep 1000 & first=$!; sleep 1000 & echo $$ $first $!; wait"], clock, ear)

    assert len(set(pids)) == 3
    await until(lambda: not any(map(alive, pids)))


async def test_a_grandchild_that_ignores_sigterm_is_killed_with_the_group(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    script = "(trap '' TERM; exec sleep 1000) & sleep 0.1; echo $$ $!; exec sleep 1000"
    leader, grandchild = await timed_out(runtime, ["/bin/sh", "-c", script], clock, ear)

    await until(lambda: not alive(leader))
    # The leader is gone, and its number stays reserved all through the grace: the group can still be addressed.
    assert alive(grandchild)
    await clock.advance(HOUR)
    await until(lambda: not alive(grandchild))


async def test_a_grandchild_that_keeps_stdout_open_makes_the_run_late(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    leader, grandchild = await timed_out(runtime, ["/bin/sh", "-c", "sleep 1000 & echo $$ $!; exit 0"], clock, ear)

    await until(lambda: not alive(leader) and not alive(grandchild))


async def test_a_grandchild_that_gave_up_both_outputs_is_left_alone(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(["/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"], b"", timeout_seconds=60)

    pid = int(finished.stdout)
    assert finished.status == 0
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("then", ["os._exit(0)", "time.sleep(1000)"], ids=["leader exits", "leader stays"])
async def test_a_grandchild_of_another_session_delays_nothing(runtime: ProcessRuntime, clock: Clock, ear: Ear, then: str) -> None:
    (grandchild,) = await timed_out(runtime, python(SETSID.format(then=then)), clock, ear)

    # It left the group, so it lives; that nothing of ours is left is checked after the test.
    assert alive(grandchild)
    await runtime.close()
    assert alive(grandchild)
    os.kill(grandchild, signal.SIGKILL)


async def test_a_process_that_changed_its_group_is_killed_all_the_same(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    # It joins the group of its child, which then goes.
    code = (
        "import os,signal,time; pid = os.fork()\n"
        "if not pid: os.setpgid(0, 0); time.sleep(1000)\n"
        "time.sleep(0.1); os.setpgid(0, pid); os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)\n"
        "print(os.getpid(), flush=True); time.sleep(1000)"
    )
    (pid,) = await timed_out(runtime, python(code), clock, ear, Limits(grace_seconds=0.01))

    await until(lambda: not alive(pid))


async def test_a_stopped_process_is_killed(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    # It stops itself after its line, or the test stops it: whatever comes first.
    (pid,) = await timed_out(runtime, ["/bin/sh", "-c", "echo $$; kill -STOP $$"], clock, ear, Limits(grace_seconds=0.01))

    await until(lambda: not alive(pid))


async def test_a_process_that_closed_its_outputs_has_a_deadline_too(runtime: ProcessRuntime, clock: Clock, ear: Ear) -> None:
    (pid,) = await timed_out(runtime, ["/bin/sh", "-c", "echo $$; exec >&- 2>&-; sleep 1000"], clock, ear)

    await until(lambda: not alive(pid))


async def test_a_process_that_does_not_read_its_input_has_a_deadline_too(runtime: ProcessRuntime) -> None:
    with pytest.raises(TimedOut):
        await runtime.run(["sleep", "1000"], b"x" * 200 * 1024, timeout_seconds=0.05)


async def test_a_process_that_writes_for_ever_has_a_deadline_too(runtime: ProcessRuntime) -> None:
    with pytest.raises(TimedOut):
        await runtime.run(["yes"], b"", limits=Limits(overflow="cut"), timeout_seconds=0.05)


async def test_a_deadline_that_is_over_at_once(runtime: ProcessRuntime, born_deaf: Callable[[], AbstractContextManager[None]]) -> None:
    pids: list[int] = []
    with born_deaf():
        task = asyncio.create_task(runtime.run(["sleep", "1000"], b"", limits=PATIENT, timeout_seconds=0, on_started=pids.append))
        await until(lambda: bool(pids))

    with pytest.raises(TimedOut):
        await task
    assert alive(pids[0])
