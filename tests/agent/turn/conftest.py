"""What the tests of turns share."""

import pytest

from tests.support.nest import nest
from tests.support.rows import Rows

__all__ = ["nest"]


@pytest.fixture
async def rows() -> Rows:
    return Rows()
