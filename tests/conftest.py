"""What holds for every test: the hypothesis profile, programs that may be missing, and CI's rule on skips."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

from tests.support.needs import require
from tests.support.nothing_skipped import NothingSkipped

pytest_plugins = ["pytester"]

set_hypothesis_home_dir(Path(__file__).parent.parent / ".cache" / "hypothesis")
# Hypothesis has a profile of this name for CI, which draws the same examples in every run; ours goes on searching.
settings.register_profile("ci", parent=settings.get_profile("default"), deadline=None, print_blob=True)
settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(NothingSkipped())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        require(*mark.args)
