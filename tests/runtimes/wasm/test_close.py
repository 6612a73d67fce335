"""An instance that is closed, or whose caller is cancelled, ends at once, whatever the guest does."""

import asyncio
import subprocess
import sys
import threading

import pytest

from tests.support.guests import ROOT
from tests.support.processes import held, until
from tests.support.small_guests import ASKS, DOUBLE, EXPORTS, SPIN, SPIN_AT_START, SPIN_IF_ZERO, Open, granted
from treblehook.runtimes.wasm import Cancelled, Instance, InstanceEnded, WasmRuntime


async def spinning(instance: Instance) -> None:
    """Wait until the guest's thread runs in the guest."""
    await until(lambda: instance._running is not None)


async def test_a_closed_instance_is_not_called(opened: Open) -> None:
    instance = await opened(DOUBLE, EXPORTS)
    await instance.close()
    await instance.close()

    with pytest.raises(InstanceEnded, match="the instance was closed"):
        await instance.call("go", 1, seconds=30)


async def test_closing_ends_a_guest_that_spins_and_all_who_wait(opened: Open) -> None:
    instance = await opened(SPIN, EXPORTS)
    calls = [asyncio.ensure_future(instance.call("go", 0, seconds=600)) for _ in range(3)]
    await spinning(instance)

    await instance.close()

    assert [type(error) for error in await asyncio.gather(*calls, return_exceptions=True)] == [InstanceEnded] * 3


async def test_closing_the_runtime_ends_its_instances_and_threads() -> None:
    before = held().threads
    async with WasmRuntime() as runtime:
        component = await runtime.load(SPIN_IF_ZERO.encode())
        instances = [await runtime.open(component, EXPORTS) for _ in range(5)]
        calls = [asyncio.ensure_future(instance.call("go", 0, seconds=600)) for instance in instances]
        for instance in instances:
            await spinning(instance)

    assert held().threads == before
    assert {type(error) for error in await asyncio.gather(*calls, return_exceptions=True)} == {InstanceEnded}


async def test_a_cancelled_caller_waits_no_longer_and_the_guest_is_interrupted(opened: Open) -> None:
    instance = await opened(SPIN, EXPORTS)
    call = asyncio.ensure_future(instance.call("go", 0, seconds=600))
    await spinning(instance)
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(InstanceEnded) as raised:
        await instance.call("go", 0, seconds=30)
    assert isinstance(raised.value.why, Cancelled)


async def test_a_call_that_is_cancelled_before_its_turn_harms_nobody(opened: Open) -> None:
    released = threading.Event()
    instance = await opened(ASKS, EXPORTS, granted(lambda n: released.wait() and n))
    first, second, third = (asyncio.ensure_future(instance.call("go", n, seconds=30)) for n in (1, 2, 3))
    await spinning(instance)
    second.cancel()
    await asyncio.sleep(0)
    released.set()

    assert [await first, await third] == [2, 4]
    assert instance.ended is None


async def test_a_start_that_is_cancelled_leaves_nothing(runtime: WasmRuntime) -> None:
    component = await runtime.load(SPIN_AT_START.encode())
    opening = asyncio.ensure_future(runtime.open(component, EXPORTS, seconds=600))
    await asyncio.sleep(0.05)
    opening.cancel()

    with pytest.raises(asyncio.CancelledError):
        await opening


async def test_closing_does_not_wait_for_a_host_function_that_hangs(opened: Open) -> None:
    released = threading.Event()
    instance = await opened(ASKS, EXPORTS, granted(lambda n: released.wait() and n))
    call = asyncio.ensure_future(instance.call("go", 1, seconds=30))
    await spinning(instance)

    await instance.close()

    with pytest.raises(InstanceEnded):
        await call
    released.set()


HANGS = """
import asyncio, threading
from tests.support.small_guests import EXPORTS
from tests.support.small_guests import ASKS, granted
from treblehook.runtimes.wasm import WasmRuntime

async def main():
    runtime = WasmRuntime()
    entered = threading.Event()
    hang = lambda n: entered.set() or threading.Event().wait()
    instance = await runtime.open(await runtime.load(ASKS.encode()), EXPORTS, granted(hang))
    asyncio.ensure_future(instance.call("go", 1, seconds=600))
    while not entered.is_set():
        await asyncio.sleep(0.01)
    print("hangs")

asyncio.run(main())
"""

SPINS = """
import asyncio
from tests.support.small_guests import EXPORTS, SPIN
from treblehook.runtimes.wasm import WasmRuntime

async def main():
    runtime = WasmRuntime()
    instance = await runtime.open(await runtime.load(SPIN.encode()), EXPORTS)
    call = asyncio.ensure_future(instance.call("go", 1, seconds=600))
    while instance._running is None:
        await asyncio.sleep(0.01)
    print("hangs")
    return call


# The loop just stops; nothing is cancelled.
still_there = asyncio.new_event_loop().run_until_complete(main())
"""


@pytest.mark.parametrize("program", [HANGS, SPINS])
def test_a_guest_cannot_keep_the_process_alive(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert (run.stdout, run.returncode) == ("hangs\n", 0), run.stderr
