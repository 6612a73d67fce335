"""What the tests of whole sessions share."""

from collections.abc import AsyncIterator

import pytest

from tests.support.nest import Nest, nest
from treblehook.home.residents import Residents

__all__ = ["nest"]


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def residents(nest: Nest, clock: Clock) -> AsyncIterator[Residents]:
    nest.recorder("session_start")
    nest.recorder("session_end")
    residents = Residents(nest.home, clock)
    yield residents
    await residents.shutdown()


def started(nest: Nest) -> list[str]:
    return [payload["reason"] for payload in nest.sent("session_start")]


def ended(nest: Nest) -> list[str]:
    return [payload["reason"] for payload in nest.sent("session_end")]
