"""What the sessions with providers share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fake_model import FakeModel, fake_model
from tests.support.provider_stage import ProviderStage
from tests.support.wire_streams import WORDS

__all__ = ["fake_model"]


@pytest.fixture(params=WORDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path, fake_model: Callable[[object], FakeModel]) -> ProviderStage:
    """A stage with each provider in turn."""
    return ProviderStage(tmp_path, request.param, fake_model)
