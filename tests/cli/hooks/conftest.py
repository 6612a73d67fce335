"""A home for the commands of `treblehook hooks`."""

from pathlib import Path

import pytest

from tests.support.command_home import CommandHome


@pytest.fixture
def home(tmp_path: Path) -> CommandHome:
    return CommandHome(tmp_path / "home")
