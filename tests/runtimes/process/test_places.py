"""How many run at once, and whose clock ticks meanwhile."""

import asyncio
import os

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from treblehook.runtimes.process import ProcessRuntime


async def rounds() -> None:
    """Let everything happen that can happen without a process's help."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_run_without_a_place_is_not_started_and_its_clock_stands_still(clock: Clock) -> None:
    started: list[int] = []
    async with ProcessRuntime(at_once=2) as runtime:
        holders = [asyncio.create_task(runtime.run(["sleep", "1000"], b"", on_started=started.append)) for _ in range(2)]
        late = asyncio.create_task(runtime.run(["cat"], b"late", timeout_seconds=60, on_started=started.append))
        await until(lambda: len(started) == 2)
        await rounds()
        assert len(started) == 2

        await clock.advance(3600)
        assert not late.done()
        holders[0].cancel()

        assert (await late).stdout == b"late"
        assert len(started) == 3


async def test_the_default_is_one_more_than_there_are_cores() -> None:
    places = len(os.sched_getaffinity(0)) + 1
    started: list[int] = []
    async with ProcessRuntime() as runtime:
        tasks = [asyncio.create_task(runtime.run(["sleep", "1000"], b"", on_started=started.append)) for _ in range(places + 2)]
        await until(lambda: len(started) >= places)
        await rounds()

        assert len(started) == places
        for task in tasks:
            task.cancel()


@pytest.mark.parametrize("places", [0, -1])
def test_no_place_at_all_is_refused(places: int) -> None:
    with pytest.raises(ValueError, match=f"at_once is {places}"):
        ProcessRuntime(at_once=places)
