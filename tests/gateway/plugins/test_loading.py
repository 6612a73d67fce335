"""`treblehook doctor` knows whether an agent loads our code, which OpenCode would pass over in silence."""

import os
from pathlib import Path

import pytest

from tests.gateway.plugins.conftest import Plugin
from treblehook.gateway.install.plugins.loading import examine_loading, mark_of


@pytest.fixture(params=["opencode", "pi"])
def agent(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_code_that_is_loaded_leaves_a_mark(plugin: Plugin) -> None:
    mark = mark_of(plugin.home, plugin.agent)
    assert not mark.exists()

    plugin.run()

    assert mark.exists()
    assert mark.parent.stat().st_mode & 0o077 == 0


def test_a_home_that_is_gone_is_not_made_anew_and_does_no_harm(plugin: Plugin) -> None:
    plugin.home = plugin.home / "gone"

    plugin.run()

    assert not plugin.home.exists()


def test_a_mark_that_cannot_be_written_does_no_harm(plugin: Plugin) -> None:
    mark_of(plugin.home, plugin.agent).mkdir(parents=True)

    plugin.run()


def test_doctor_tells_what_was_never_loaded_or_not_as_it_is_now(tmp_path: Path, agent: str) -> None:
    file, mark = tmp_path / "plugin.js", mark_of(tmp_path, agent)
    file.touch()
    assert examine_loading(agent, tmp_path, file).level == "warning"

    mark.parent.mkdir()
    mark.touch()
    os.utime(file, (1000, 1000))
    assert examine_loading(agent, tmp_path, file).level == "ok"

    os.utime(mark, (999, 999))
    finding = examine_loading(agent, tmp_path, file)
    assert (finding.level, "anew" in finding.message) == ("warning", True)
