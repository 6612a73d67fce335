"""A descendant that keeps an output open after the process has exited, and a file that runs under another name."""

import asyncio
import os
import signal
import sys

import pytest

from tests.support.clock import Clock
from tests.support.processes import Ear, alive, until
from treblehook.runtimes.process import Limits, NotStarted, ProcessRuntime, Stopped

SOON = Limits(linger_seconds=0.05)
NEVER = Limits(linger_seconds=3600)
LEAVES_A_SLEEPER = "sleep 1000 & echo $!; exit 3"


async def test_the_wait_for_an_output_is_bounded_and_the_descendant_stays(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(["/bin/sh", "-c", LEAVES_A_SLEEPER], b"", limits=SOON)

    sleeper = int(finished.stdout)
    assert (finished.status, finished.held) == (3, True)
    assert alive(sleeper)
    os.kill(sleeper, signal.SIGKILL)


async def test_an_output_that_closes_in_time_is_complete(runtime: ProcessRuntime) -> None:
    script = "( read x < /dev/null; echo late ) & echo early"
    finished = await runtime.run(["/bin/sh", "-c", script], b"", limits=NEVER)

    assert sorted(finished.stdout.split()) == [b"early", b"late"]
    assert not finished.held


async def test_outputs_that_close_before_the_exit_are_no_end(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(["/bin/sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 4"], b"", limits=NEVER)

    assert (finished.status, finished.held) == (4, False)


async def test_a_deadline_in_the_wait_is_no_failure_of_a_process_that_exited(runtime: ProcessRuntime, ear: Ear, clock: Clock) -> None:
    pids: list[int] = []
    command = ["/bin/sh", "-c", LEAVES_A_SLEEPER]
    run = asyncio.create_task(runtime.run(command, b"", limits=NEVER, timeout_seconds=60, on_started=pids.append, on_output=ear))
    sleeper = int(await ear.line())
    await until(lambda: not alive(pids[0]))
    # Collected as well: the exit has been noticed.
    await until(lambda: not os.path.exists(f"/proc/{pids[0]}"))

    await clock.advance(61)

    finished = await run
    assert (finished.status, finished.held) == (3, True)
    os.kill(sleeper, signal.SIGKILL)


async def test_closing_the_runtime_ends_the_wait(ear: Ear) -> None:
    async with ProcessRuntime() as runtime:
        run = asyncio.create_task(runtime.run(["/bin/sh", "-c", LEAVES_A_SLEEPER], b"", limits=NEVER, on_output=ear))
        sleeper = int(await ear.line())

    with pytest.raises(Stopped):
        await run
    if alive(sleeper):
        os.kill(sleeper, signal.SIGKILL)


async def test_a_file_runs_under_the_name_that_it_is_given(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(["another name", "-c", "echo $0"], b"", executable="/bin/sh")

    assert finished.stdout == b"another name\n"


async def test_a_file_that_is_missing_is_named(runtime: ProcessRuntime) -> None:
    with pytest.raises(NotStarted, match="no such file"):
        await runtime.run([sys.executable], b"", executable="/nowhere/at/all")
