"""What the tests of the daemon share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.served import Served, Stage, serving


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
async def served(stage: Stage) -> AsyncIterator[Served]:
    async with serving(stage) as running:
        yield running
