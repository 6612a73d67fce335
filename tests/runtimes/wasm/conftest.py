"""What the tests of the WebAssembly runtime share: runtimes that are closed, and the check that nothing is left behind."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from tests.support.guests import CODE
from tests.support.processes import NOTHING as NOTHING_LEFT
from tests.support.processes import held, new_since, until
from tests.support.small_guests import Open
from treblehook.runtimes.wasm import Component, FunctionType, Grants, Instance, Limits, WasmRuntime
from treblehook.runtimes.wasm.runtime import DEFAULT_LIMITS, NOTHING


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    """After every test: the same descriptors, children and threads as before."""
    before = held()
    yield
    # A thread that was given up ends when its guest notices.
    await until(lambda: held().threads <= before.threads)
    await asyncio.sleep(0)
    assert new_since(before) == NOTHING_LEFT


@pytest.fixture
async def runtime(nothing_is_left: None) -> AsyncIterator[WasmRuntime]:
    """A runtime that compiles whatever it is given."""
    async with WasmRuntime() as runtime:
        yield runtime


@pytest.fixture
async def warm_runtime(nothing_is_left: None) -> AsyncIterator[WasmRuntime]:
    """A runtime with compiled code from earlier runs, for big components."""
    async with WasmRuntime(CODE) as runtime:
        yield runtime


@pytest.fixture
def opened(runtime: WasmRuntime) -> Open:
    """Load component text and start it."""

    async def start(
        text: str, exports: Mapping[str, FunctionType], grants: Grants = NOTHING, limits: Limits = DEFAULT_LIMITS, seconds: float = 30.0
    ) -> Instance:
        component: Component = await runtime.load(text.encode())
        return await runtime.open(component, exports, grants, limits, seconds=seconds)

    return start
