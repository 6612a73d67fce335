"""What the tests of calls share."""

from pathlib import Path

import pytest

from tests.support.call_rig import CallRig


@pytest.fixture
async def rig(tmp_path: Path) -> CallRig:
    return CallRig(tmp_path / "results")
