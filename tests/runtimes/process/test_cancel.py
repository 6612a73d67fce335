"""Cancelling the caller in every phase of a run: the caller is free at once, the processes end behind its back."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.support.processes import Ear, alive, pipes, until
from treblehook.runtimes.process import Finished, Limits, ProcessRuntime

PATIENT = Limits(grace_seconds=3600)


async def cancelled(task: asyncio.Task[Finished]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_before_the_first_step(runtime: ProcessRuntime) -> None:
    started: list[int] = []
    await cancelled(asyncio.create_task(runtime.run(["true"], b"", on_started=started.append)))

    assert started == []


async def test_while_waiting_for_a_place(ear: Ear) -> None:
    started: list[int] = []
    async with ProcessRuntime(at_once=1) as runtime:
        first = asyncio.create_task(runtime.run(["/bin/sh", "-c", "echo; read x"], b"", on_output=ear))
        second = asyncio.create_task(runtime.run(["true"], b"", on_started=started.append))
        await ear.line()

        await cancelled(second)

        assert (await first).stdout == b"\n"
        assert started == []
        assert (await runtime.run(["true"], b"")).status == 0


async def test_while_the_process_runs(runtime: ProcessRuntime, ear: Ear) -> None:
    script = "trap '' TERM; echo $$; exec sleep 1000"
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", script], b"", limits=PATIENT, timeout_seconds=3600, on_output=ear))
    pid = int(await ear.line())

    await cancelled(task)

    assert alive(pid), "the caller is free while the process is in its grace"
    assert await runtime.close() == []
    assert not alive(pid)


async def test_while_input_is_being_written(runtime: ProcessRuntime) -> None:
    pids: list[int] = []
    task = asyncio.create_task(runtime.run(["sleep", "1000"], b"x" * 200_000, on_started=pids.append))
    await until(lambda: bool(pids))

    await cancelled(task)

    await until(lambda: not alive(pids[0]))


async def test_while_only_the_exit_is_missing(runtime: ProcessRuntime, ear: Ear) -> None:
    before = pipes()
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", "echo $$; exec >&- 2>&-; sleep 1000"], b"", on_output=ear))
    pid = int(await ear.line())
    await until(lambda: pipes() == before)

    await cancelled(task)

    await until(lambda: not alive(pid))


async def test_while_a_descendant_holds_the_output(runtime: ProcessRuntime, ear: Ear) -> None:
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", "sleep 1000 & echo $$ $!"], b"", on_output=ear))
    leader, grandchild = map(int, (await ear.line()).split())
    await until(lambda: not alive(leader))

    await cancelled(task)

    await until(lambda: not alive(grandchild))


@pytest.mark.parametrize("known", [False, True], ids=["status not told", "status told, caller not woken"])
async def test_between_the_end_and_the_answer(runtime: ProcessRuntime, monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    real = os.waitpid

    def waitpid(pid: int, options: int) -> tuple[int, int]:
        collected = real(pid, options)
        if collected[0] and known:
            # Called after what is done with the status now, and before the task that this wakes.
            asyncio.get_running_loop().call_soon(task.cancel)
        elif collected[0]:
            task.cancel()
        return collected

    monkeypatch.setattr(os, "waitpid", waitpid)
    task = asyncio.create_task(runtime.run(["true"], b"", timeout_seconds=3600))

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_at_every_moment_of_a_short_run(runtime: ProcessRuntime) -> None:
    answers = set()
    for rounds in range(400):
        task = asyncio.create_task(runtime.run(["/bin/sh", "-c", "cat; echo; exit"], b"x" * 100_000, limits=Limits(stdout_bytes=200_000)))
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        answers.add(type((await asyncio.gather(task, return_exceptions=True))[0]))

    assert asyncio.CancelledError in answers
    assert answers <= {asyncio.CancelledError, Finished}


async def test_a_shorter_deadline_around_the_run_cancels_it(
    runtime: ProcessRuntime, born_deaf: Callable[[], AbstractContextManager[None]]
) -> None:
    pids: list[int] = []

    with born_deaf(), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await runtime.run(["sleep", "1000"], b"", limits=PATIENT, timeout_seconds=1000, on_started=pids.append)

    assert alive(pids[0])


def test_a_loop_that_ends_takes_the_processes_with_it() -> None:
    """Cancelled with the loop's other tasks, nobody having closed the runtime before: what is being ended is killed."""
    pids: list[int] = []

    async def main() -> None:
        runtime = ProcessRuntime()
        ear = Ear()
        script = "trap '' TERM; echo $$; exec sleep 1000"
        task = asyncio.create_task(runtime.run(["/bin/sh", "-c", script], b"", limits=PATIENT, on_output=ear))
        pids.append(int(await ear.line()))
        await cancelled(task)
        assert alive(pids[0])

    asyncio.run(main())

    # Nobody is left to collect it but us.
    assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == -signal.SIGKILL
