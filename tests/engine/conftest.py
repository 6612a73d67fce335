"""In this room's tests a warning is an error: a coroutine that was never awaited, an exception that nobody retrieved."""

import gc
import warnings
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("error"))


@pytest.fixture(autouse=True, scope="module")
def earlier_tests_have_left_nothing() -> None:
    """What those of other rooms left to the collector is no fault of a test in here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
