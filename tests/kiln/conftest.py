"""What the tests of kilns share."""

from pathlib import Path

import pytest

from tests.support.kiln_rig import KilnRig


@pytest.fixture
def rig(tmp_path: Path) -> KilnRig:
    return KilnRig(tmp_path)
