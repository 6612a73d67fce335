"""What the tests of settings files share."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.settings_rig import SettingsRig
from treblehook.runtimes.process import ProcessRuntime


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[SettingsRig]:
    async with ProcessRuntime(at_once=16) as runtime:
        yield SettingsRig(tmp_path, runtime, {**os.environ, "DIGGER": "Anne", "SECRET": "x marks it"})
