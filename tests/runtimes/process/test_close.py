"""Closing the runtime: everything ends now, and every caller hears of it."""

import asyncio
import os
import signal

import pytest

from tests.support.clock import Clock
from tests.support.processes import Ear, alive, until
from treblehook.runtimes.process import Limits, NotStarted, ProcessRuntime, Stopped, TimedOut

DEAF = ["/bin/sh", "-c", "trap '' TERM; echo $$; exec sleep 1000"]
PATIENT = Limits(grace_seconds=3600)


async def test_runs_under_way_are_stopped_and_waiting_ones_not_started(ear: Ear) -> None:
    runtime = ProcessRuntime(at_once=1)
    under_way = asyncio.create_task(runtime.run(DEAF, b"", limits=PATIENT, on_output=ear))
    waiting = asyncio.create_task(runtime.run(["true"], b""))
    pid = int(await ear.line())

    assert await runtime.close() == []

    assert not alive(pid)
    with pytest.raises(Stopped, match="/bin/sh: stopped"):
        await under_way
    with pytest.raises(NotStarted, match="has been closed"):
        await waiting
    with pytest.raises(NotStarted, match="has been closed"):
        await runtime.run(["true"], b"")
    assert await runtime.close() == []


async def test_a_grace_is_cut_short(ear: Ear) -> None:
    runtime = ProcessRuntime()
    task = asyncio.create_task(runtime.run(DEAF, b"", limits=PATIENT, on_output=ear))
    pid = int(await ear.line())
    task.cancel()
    await asyncio.wait([task])
    assert alive(pid)

    await runtime.close()

    assert not alive(pid)


async def test_a_run_that_waits_for_the_exit_only(ear: Ear) -> None:
    runtime = ProcessRuntime()
    script = "trap '' TERM; echo $$; exec >&- 2>&-; sleep 1000"
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", script], b"", on_output=ear))
    pid = int(await ear.line())

    await runtime.close()

    assert not alive(pid)
    with pytest.raises(Stopped):
        await task


async def test_a_process_that_cannot_be_killed_does_not_hold_up_the_close(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    runtime = ProcessRuntime()
    pids: list[int] = []
    with monkeypatch.context() as signals:
        # A process in uninterruptible sleep takes no signal; a test cannot make one.
        signals.setattr(os, "killpg", lambda *_: None)
        signals.setattr(os, "kill", lambda *_: None)
        with pytest.raises(TimedOut):
            await runtime.run(["sleep", "1000"], b"", timeout_seconds=0, on_started=pids.append)
        closing = asyncio.create_task(runtime.close())
        await clock.advance(1)
        assert not closing.done()
        await clock.advance(1)
        assert await closing == pids

    assert alive(pids[0])
    os.kill(pids[0], signal.SIGKILL)
    await until(lambda: os.waitpid(pids[0], os.WNOHANG)[0] == pids[0])


async def test_what_ends_in_time_is_not_waited_for_any_longer(ear: Ear) -> None:
    async with ProcessRuntime() as runtime:
        with pytest.raises(TimedOut):
            await runtime.run(["sleep", "1000"], b"", timeout_seconds=0, limits=Limits(grace_seconds=0))
        await until(lambda: len(asyncio.all_tasks()) == 1)
