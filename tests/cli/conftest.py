"""What the tests of the commands share."""

from pathlib import Path

import pytest

from tests.support.command_run import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)
