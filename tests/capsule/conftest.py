"""What the tests of capsules share."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.capsule_rig import CapsuleRig
from tests.support.nest import Watched
from treblehook.agent.models import open_model
from treblehook.home import sessions


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CapsuleRig:
    rig = CapsuleRig(tmp_path)

    def opened(spec: str, **options: Any) -> Watched:
        return Watched(open_model(spec, **options), rig)

    monkeypatch.setattr(sessions, "open_model", opened)
    return rig
