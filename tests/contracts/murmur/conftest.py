"""What the tests of murmur hooks share: a runtime, and a launch in a folder of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.guests import CODE
from tests.support.murmur_rig import MurmurRig
from tests.support.processes import held, until
from treblehook.runtimes.wasm import WasmRuntime


@pytest.fixture(autouse=True)
async def no_thread_is_left() -> AsyncIterator[None]:
    """After every test; a thread that was given up ends when its guest notices."""
    before = held().threads
    yield
    await until(lambda: held().threads <= before)


@pytest.fixture
async def runtime(no_thread_is_left: None) -> AsyncIterator[WasmRuntime]:
    """With compiled code from earlier runs: these tests are not about compiling."""
    async with WasmRuntime(CODE) as runtime:
        yield runtime


@pytest.fixture
async def rig(tmp_path: Path, runtime: WasmRuntime) -> AsyncIterator[MurmurRig]:
    rig = MurmurRig(tmp_path, runtime)
    yield rig
    await rig.close()
