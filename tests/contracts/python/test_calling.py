"""Plain functions that may block are called without stalling the event loop."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from treblehook.contracts.python.calling import called

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def test_it_runs_in_another_thread_with_the_callers_context() -> None:
    WHO.set("jim")

    name, thread = await called(lambda word: (word + WHO.get(), threading.current_thread()), "it is ")

    assert name == "it is jim"
    assert thread is not threading.current_thread()
    assert thread.daemon


async def test_the_loop_goes_on_meanwhile() -> None:
    go = threading.Event()
    waiting = asyncio.ensure_future(called(lambda _: go.wait(), None))
    await asyncio.sleep(0)
    go.set()

    assert await waiting is True


async def test_what_it_answers_is_awaited() -> None:
    async def later(word: str) -> str:
        return word * 2

    assert await called(lambda word: later(word), "ho") == "hoho"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
async def test_what_it_raises_comes_out(error: BaseException) -> None:
    def fails(_: None) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        await called(fails, None)
    assert raised.value is error


async def test_a_stop_iteration_does_not_vanish() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await called(lambda _: next(iter([])), None)


async def test_cancelling_ends_the_wait() -> None:
    go = threading.Event()
    waiting = asyncio.ensure_future(called(lambda _: go.wait(), None))
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()


def test_a_thread_may_outlive_the_loop(recwarn: pytest.WarningsRecorder) -> None:
    go, threads = threading.Event(), []

    def slow(_: None) -> None:
        threads.append(threading.current_thread())
        go.wait()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(called(slow, None), 0.01)

    asyncio.run(main())
    go.set()
    for thread in threads:
        thread.join()

    assert not recwarn.list
