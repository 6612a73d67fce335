"""The bounds on both outputs, enforced while they are read."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.support.processes import Ear, alive, python, until
from treblehook.runtimes.process import Limits, ProcessRuntime, TooMuchOutput


def writes(size: int, stream: int = 1, then: str = "") -> list[str]:
    return python(f"import os,sys\nrest={size}\nwhile rest: rest -= os.write({stream}, b'x'*min(rest, 65536))\n{then}")


async def test_output_at_its_limit_is_whole(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(writes(65_536), b"")

    assert finished.stdout == b"x" * 65_536
    assert not finished.stdout_cut


async def test_one_byte_over_is_a_failure_though_it_was_all(runtime: ProcessRuntime) -> None:
    with pytest.raises(TooMuchOutput) as caught:
        await runtime.run(writes(65_537), b"")

    assert (caught.value.stream, caught.value.limit) == ("stdout", 65_536)
    assert "wrote more than 65536 bytes to stdout" in str(caught.value)


async def test_one_byte_over_in_a_chunk_of_its_own(runtime: ProcessRuntime, script: Callable[[str], str]) -> None:
    limits = Limits(stdout_bytes=3)

    assert (await runtime.run([script("printf abc")], b"", limits=limits)).stdout == b"abc"
    with pytest.raises(TooMuchOutput):
        await runtime.run([script("printf abc; sleep 0.02; printf d")], b"", limits=limits)


async def test_no_output_allowed(runtime: ProcessRuntime) -> None:
    limits = Limits(stdout_bytes=0, stderr_bytes=0)

    assert (await runtime.run(["true"], b"", limits=limits)).stdout == b""
    with pytest.raises(TooMuchOutput):
        await runtime.run(["echo"], b"", limits=limits)


async def test_too_much_output_ends_a_process_that_would_go_on(runtime: ProcessRuntime) -> None:
    pids: list[int] = []

    with pytest.raises(TooMuchOutput):
        await runtime.run(["yes"], b"", on_started=pids.append)

    await until(lambda: not alive(pids[0]))


async def test_too_much_output_is_answered_while_the_process_lives(
    runtime: ProcessRuntime, born_deaf: Callable[[], AbstractContextManager[None]]
) -> None:
    pids: list[int] = []
    with born_deaf():
        task = asyncio.create_task(runtime.run(writes(65_537, then="import time; time.sleep(1000)"), b"", on_started=pids.append))
        await until(lambda: bool(pids))

    with pytest.raises(TooMuchOutput):
        await task

    assert alive(pids[0])


async def test_a_megabyte_on_stderr_is_drained_and_cut(runtime: ProcessRuntime, ear: Ear) -> None:
    finished = await runtime.run(writes(1024 * 1024, stream=2, then="print('fine'); sys.exit(2)"), b"", on_output=ear)

    assert finished.status == 2
    assert finished.stdout == b"fine\n"
    assert finished.stderr == b"x" * 65_536
    assert finished.stderr_cut
    assert len(ear.heard["stderr"]) == 1024 * 1024


async def test_stderr_at_its_limit_is_not_cut(runtime: ProcessRuntime) -> None:
    finished = await runtime.run(writes(65_536, stream=2), b"")

    assert len(finished.stderr) == 65_536
    assert not finished.stderr_cut


async def test_output_can_be_cut_in_place_of_failing(runtime: ProcessRuntime, ear: Ear) -> None:
    limits = Limits(stdout_bytes=10, overflow="cut")

    finished = await runtime.run(python("print('0123456789' * 20000)"), b"", limits=limits, on_output=ear)

    assert finished.status == 0
    assert finished.stdout == b"0123456789"
    assert finished.stdout_cut
    assert len(ear.heard["stdout"]) == 200_001
