"""What the tests of the contracts of executables share: a home with real hooks, and a clock to turn."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.vera_home import VeraHome
from treblehook.runtimes.process import ProcessRuntime


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[VeraHome]:
    async with ProcessRuntime() as runtime:
        home = VeraHome(tmp_path / "home", runtime)
        yield home
        await home.close()


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(asyncio.get_running_loop(), monkeypatch)
