"""What the tests of installing share."""

from pathlib import Path

import pytest

from tests.gateway.install.user import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)
