"""What the tests of extensions share: a home with extensions, and a clock to turn."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.extension_rig import ExtensionRig


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[ExtensionRig]:
    rig = ExtensionRig(tmp_path)
    yield rig
    await rig.close()


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(asyncio.get_running_loop(), monkeypatch)
