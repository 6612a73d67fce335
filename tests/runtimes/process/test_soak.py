"""Ten thousand runs, and every unhappy end many times over: nothing is left. What is left is counted after each test."""

import asyncio
import itertools
from collections.abc import Awaitable, Iterator
from contextlib import suppress

import pytest

from treblehook.runtimes.process import Limits, NotStarted, ProcessRuntime, TimedOut, TooMuchOutput

RUNS = 10_000


async def drain(runs: Iterator[Awaitable[object]], workers: int) -> None:
    async def work() -> None:
        for run in runs:
            await run

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())


@pytest.mark.soak
async def test_ten_thousand_runs(runtime: ProcessRuntime) -> None:
    count = 0

    async def one(number: int) -> None:
        nonlocal count
        payload = str(number).encode()
        finished = await runtime.run(["/bin/true"] if number % 10 else ["/bin/cat"], payload, timeout_seconds=60)
        assert finished.status == 0
        assert finished.stdout == (b"" if number % 10 else payload)
        count += 1

    await drain(map(one, range(RUNS)), workers=4)

    assert count == RUNS
    assert len(asyncio.all_tasks()) == 1


@pytest.mark.soak
async def test_five_hundred_unhappy_ends(runtime: ProcessRuntime) -> None:
    limits = Limits(stdout_bytes=10, grace_seconds=0.01)

    async def late() -> None:
        with pytest.raises(TimedOut):
            await runtime.run(["/bin/sh", "-c", "sleep 1000 & wait"], b"", limits=limits, timeout_seconds=0.005)

    async def loud() -> None:
        with pytest.raises(TooMuchOutput):
            await runtime.run(["/usr/bin/yes"], b"x" * 100_000, limits=limits)

    async def missing() -> None:
        with pytest.raises(NotStarted):
            await runtime.run(["/no/such/file"], b"", limits=limits)

    async def unwanted() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.002):
                await runtime.run(["/bin/sleep", "1000"], b"", limits=limits)

    kinds = itertools.cycle([late, loud, missing, unwanted])
    await drain((kind() for kind in itertools.islice(kinds, 500)), workers=4)
