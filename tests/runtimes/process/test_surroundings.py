"""Hosts of every kind: loops in other threads, hosts with children of their own, systems without process descriptors."""

import asyncio
import errno
import os
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.support.processes import Ear, alive, held, pipes, until
from treblehook.runtimes.process import Finished, ProcessRuntime, TimedOut


async def a_bit_of_everything() -> list[Finished]:
    async with ProcessRuntime() as runtime:
        with pytest.raises(TimedOut):
            await runtime.run(["sleep", "1000"], b"", timeout_seconds=0.01)
        late_exit = ["/bin/sh", "-c", "exec >&- 2>&-; sleep 0.05; exit 7"]
        return await asyncio.gather(*(runtime.run(argv, b"x" * 100) for argv in (["cat"], ["false"], late_exit)))


def check(finished: list[Finished]) -> None:
    assert [run.status for run in finished] == [0, 1, 7]
    assert finished[0].stdout == b"x" * 100


def test_loop_in_another_thread() -> None:
    results: list[list[Finished]] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(a_bit_of_everything())))

    thread.start()
    thread.join()

    check(results[0])


def test_loops_in_several_threads_at_once() -> None:
    results: list[list[Finished]] = []
    threads = [threading.Thread(target=lambda: results.append(asyncio.run(a_bit_of_everything()))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 4
    for result in results:
        check(result)


@pytest.fixture
def plain_child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sh", "-c", "exit 5"]) as child:
        yield child


async def test_children_of_the_host_keep_their_status(plain_child: subprocess.Popen[bytes]) -> None:
    before = set(threading.enumerate())
    watched = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 6")

    check(await a_bit_of_everything())

    assert await watched.wait() == 6
    assert plain_child.wait() == 5
    # The standard library's own watcher may use a thread for each child.
    await until(lambda: set(threading.enumerate()) <= before)


@pytest.fixture
def no_process_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(os, "pidfd_open", refuse)


async def test_without_process_descriptors(no_process_descriptors: None) -> None:
    check(await a_bit_of_everything())


async def test_without_process_descriptors_a_wait_can_be_cancelled(no_process_descriptors: None, runtime: ProcessRuntime, ear: Ear) -> None:
    before = pipes()
    task = asyncio.create_task(runtime.run(["/bin/sh", "-c", "echo $$; exec >&- 2>&-; sleep 1000"], b"", on_output=ear))
    pid = int(await ear.line())
    await until(lambda: pipes() == before)

    task.cancel()

    await asyncio.wait([task])
    await until(lambda: not alive(pid))


async def test_a_dead_process_that_a_debugger_holds_is_asked_again(
    runtime: ProcessRuntime, script: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process descriptor tells of the exit, and goes on doing so, while the status is not to be had.
    pids: list[int] = []
    with monkeypatch.context() as debugger:
        debugger.setattr(os, "waitpid", lambda pid, options: (0, 0))
        task = asyncio.create_task(runtime.run([script("exec >&- 2>&-; sleep 0.05; exit 9")], b"", on_started=pids.append))
        await until(lambda: bool(pids) and not alive(pids[0]))
        # A descriptor that stays readable would keep the loop spinning.
        await until(lambda: not any("pidfd" in leads_to for leads_to in held().descriptors.values()))

    assert (await task).status == 9
