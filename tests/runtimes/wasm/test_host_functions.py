"""A guest calls what it was granted: on its own thread, or on the event loop; its own clock stands still meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.small_guests import ASKS, DOUBLE, EXPORTS, HOST, SPINS_AFTER, Open, granted
from treblehook.runtimes.wasm import (
    Cancelled,
    DeadlineExceeded,
    HostFunctionFailed,
    Instance,
    InstanceEnded,
    WrongValue,
)


async def test_a_function_runs_on_the_guest_s_thread(opened: Open) -> None:
    threads = []

    def ask(n: int) -> int:
        threads.append(threading.current_thread())
        return n * 10

    instance = await opened(ASKS, EXPORTS, granted(ask))

    assert [await instance.call("go", n, seconds=30) for n in (1, 2)] == [11, 21]
    assert threads[0] is threads[1] is not threading.main_thread()


async def test_a_coroutine_runs_on_the_loop(opened: Open) -> None:
    loop = asyncio.get_running_loop()

    async def ask(n: int) -> int:
        await asyncio.sleep(0)
        assert asyncio.get_running_loop() is loop
        return n * 10

    instance = await opened(ASKS, EXPORTS, granted(ask))

    assert await instance.call("go", 4, seconds=30) == 41


async def test_the_guest_s_clock_stands_still_while_it_waits_for_a_function(opened: Open) -> None:
    released = threading.Event()
    instance = await opened(ASKS, EXPORTS, granted(lambda n: released.wait() and n))
    call = asyncio.ensure_future(instance.call("go", 1, seconds=0.5))
    await asyncio.sleep(0.9)  # more than the deadline and the grace
    released.set()

    assert await call == 2


async def test_the_guest_s_clock_stands_still_while_it_waits_for_a_coroutine(opened: Open) -> None:
    released = asyncio.Event()

    async def ask(n: int) -> int:
        await released.wait()
        return n

    instance = await opened(ASKS, EXPORTS, granted(ask))
    call = asyncio.ensure_future(instance.call("go", 1, seconds=0.5))
    await asyncio.sleep(0.9)
    released.set()

    assert await call == 2


async def test_a_call_that_waits_for_another_has_its_whole_time_still(opened: Open) -> None:
    released = threading.Event()
    instance = await opened(ASKS, EXPORTS, granted(lambda n: released.wait() and n))
    calls = [asyncio.ensure_future(instance.call("go", n, seconds=0.5)) for n in (1, 2)]
    await asyncio.sleep(0.9)
    released.set()

    assert await asyncio.gather(*calls) == [2, 3]


async def test_the_clock_goes_on_where_the_guest_goes_on(opened: Open) -> None:
    instance = await opened(SPINS_AFTER, EXPORTS, granted(lambda n: n))

    with pytest.raises(DeadlineExceeded) as raised:
        await instance.call("go", 1, seconds=0.1)

    assert not raised.value.stuck


async def test_a_function_that_counts_is_given_up_at_the_deadline(opened: Open) -> None:
    released = threading.Event()
    instance = await opened(ASKS, EXPORTS, granted(lambda n: released.wait() and n, counts=True))

    with pytest.raises(DeadlineExceeded, match="given up") as raised:
        await instance.call("go", 1, seconds=0.1)

    assert raised.value.stuck
    assert isinstance(instance.ended, InstanceEnded)
    released.set()


async def test_a_coroutine_that_counts_is_cancelled_at_the_deadline(opened: Open) -> None:
    cancelled = asyncio.Event()

    async def ask(n: int) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return n

    instance = await opened(ASKS, EXPORTS, granted(ask, counts=True))

    with pytest.raises(DeadlineExceeded):
        await instance.call("go", 1, seconds=0.1)
    await cancelled.wait()


def raises(n: int) -> int:
    raise LookupError("no such treasure")


async def raises_later(n: int) -> int:
    raise LookupError("no such treasure")


@pytest.mark.parametrize("ask", [raises, raises_later])
async def test_what_a_function_raises_ends_the_guest(opened: Open, ask: Callable[[int], Any]) -> None:
    instance = await opened(ASKS, EXPORTS, granted(ask))

    with pytest.raises(HostFunctionFailed, match=rf"{HOST}#ask that it was granted failed: LookupError: no such treasure") as raised:
        await instance.call("go", 1, seconds=30)

    assert isinstance(raised.value.__cause__, LookupError)
    assert raised.value.name == f"{HOST}#ask"
    with pytest.raises(InstanceEnded):
        await instance.call("go", 1, seconds=30)


@pytest.mark.parametrize("answer", ["5", -1, None, 1 << 32])
async def test_an_answer_that_does_not_fit_ends_the_guest(opened: Open, answer: object) -> None:
    instance = await opened(ASKS, EXPORTS, granted(lambda n: answer))

    with pytest.raises(HostFunctionFailed, match=r"its value: found .*, allowed is an int from 0 to 4294967295") as raised:
        await instance.call("go", 1, seconds=30)

    assert isinstance(raised.value.__cause__, WrongValue)


async def test_failures_in_many_threads_reach_their_own_callers(opened: Open) -> None:
    async def one(number: int) -> None:
        def ask(n: int) -> int:
            raise LookupError(f"number {number}")

        instance = await opened(ASKS, EXPORTS, granted(ask))
        with pytest.raises(HostFunctionFailed, match=f"number {number}$"):
            await instance.call("go", 1, seconds=30)

    await asyncio.gather(*(one(number) for number in range(40)))


async def test_a_cancelled_call_cancels_what_the_guest_waits_for(opened: Open) -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def ask(n: int) -> int:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return n

    instance = await opened(ASKS, EXPORTS, granted(ask))
    call = asyncio.ensure_future(instance.call("go", 1, seconds=30))
    await entered.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    await cancelled.wait()
    with pytest.raises(InstanceEnded) as raised:
        await instance.call("go", 1, seconds=30)
    assert isinstance(raised.value.why, Cancelled)


async def test_a_guest_that_would_wait_for_itself_is_told(opened: Open) -> None:
    instances: list[Instance] = []

    async def ask(n: int) -> int:
        return int(await instances[n].call("go", 0, seconds=30))

    instances += [await opened(ASKS, EXPORTS, granted(ask)) for _ in range(2)]

    with pytest.raises(HostFunctionFailed, match="Reentered: the instance is called by a function that it waits for itself"):
        await instances[0].call("go", 0, seconds=30)
    assert isinstance(instances[0].ended, InstanceEnded)


async def test_guests_that_would_wait_for_each_other_are_told(opened: Open) -> None:
    """The first asks the second, and that the first."""
    instances: list[Instance] = []

    async def ask(n: int) -> int:
        return int(await instances[n].call("go", 0, seconds=30))

    instances += [await opened(ASKS, EXPORTS, granted(ask)) for _ in range(2)]

    with pytest.raises(HostFunctionFailed, match=r"HostFunctionFailed: .* failed: Reentered:"):
        await instances[0].call("go", 1, seconds=30)


async def test_a_guest_may_ask_another(opened: Open) -> None:
    async def ask(n: int) -> int:
        return int(await other.call("go", n, seconds=30))

    other = await opened(DOUBLE, EXPORTS)
    instance = await opened(ASKS, EXPORTS, granted(ask))

    assert await asyncio.gather(*(instance.call("go", n, seconds=30) for n in range(3))) == [1, 3, 5]
