"""Many calls and many instances leave nothing behind."""

import asyncio
import gc

import pytest

from tests.support.component_text import PADDING, forwarding, padded
from tests.support.every_type import EVENT, FINE
from tests.support.guests import LIFECYCLE, c_guard, hook_interfaces
from tests.support.hook_calls import CALL, ON_SHELL, PASSED
from tests.support.processes import memory
from tests.support.small_guests import EXPORTS, TRAP_IF_ZERO, Open
from treblehook.runtimes.wasm import Grants, HostFunction, HostInterface, Trapped, WasmRuntime

pytestmark = pytest.mark.soak
SLACK = 3 * 1024 * 1024


async def test_ten_thousand_calls_cost_no_memory(runtime: WasmRuntime) -> None:
    instance = await runtime.open(await runtime.load(c_guard()), hook_interfaces()[LIFECYCLE].exports())
    call = CALL | {"script": "x" * 3000}

    async def calls(times: int) -> None:
        for _ in range(times):
            assert await instance.call(ON_SHELL, call, seconds=30) == PASSED

    await calls(2000)
    before = memory()
    await calls(10_000)
    assert memory() - before < SLACK


async def test_ten_thousand_host_calls_with_every_kind_of_value_cost_no_memory(runtime: WasmRuntime) -> None:
    interface = HostInterface("tests:host/echo@1.0.0", {"echo": HostFunction(padded(EVENT), lambda value: value)})
    component = await runtime.load(forwarding(EVENT, interface.name).encode())
    instance = await runtime.open(component, {"echo": padded(EVENT)}, Grants([interface]))
    value = (FINE | {"argv": ["x" * 100] * 20, "raw": b"x" * 500}, *PADDING)

    async def calls(times: int) -> None:
        for _ in range(times):
            await instance.call("echo", value, seconds=30)

    await calls(2000)
    before = memory()
    await calls(10_000)
    assert memory() - before < SLACK


async def test_two_hundred_instances_opened_and_closed_cost_no_memory(runtime: WasmRuntime) -> None:
    component = await runtime.load(c_guard())
    exports = hook_interfaces()[LIFECYCLE].exports()

    async def instances(times: int) -> None:
        for _ in range(times):
            instance = await runtime.open(component, exports)
            assert await instance.call(ON_SHELL, CALL, seconds=30) == PASSED
            await instance.close()
        gc.collect()

    await instances(100)
    before = memory()
    await instances(200)
    assert memory() - before < SLACK


async def test_instances_that_trap_cost_no_memory(opened: Open) -> None:
    async def one() -> None:
        instance = await opened(TRAP_IF_ZERO, EXPORTS)
        with pytest.raises(Trapped):
            await instance.call("go", 0, seconds=30)
        await instance.close()

    async def instances(times: int) -> None:
        for _ in range(times // 4):
            await asyncio.gather(*(one() for _ in range(4)))
        gc.collect()

    await instances(200)
    before = memory()
    await instances(200)
    assert memory() - before < SLACK
