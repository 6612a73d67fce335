"""What the tests of the Python way in share."""

from pathlib import Path

import pytest

from tests.support.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)
