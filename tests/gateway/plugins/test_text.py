"""The text of a plugin: one file, the same each time, with nothing of this machine but what it is told; and whether it is loaded."""

from pathlib import Path

import pytest

from treblehook.gateway.install.plugins import PLUGINS, plugin_text
from treblehook.gateway.lines import ClientPlace

PLACE = ClientPlace(Path('/home/dev/näïve "home"/$(x)`'), Path("/run/gateway.sock"), "/usr/bin/curl", python="/usr/bin/python3")


@pytest.mark.parametrize("agent", PLUGINS)
def test_it_is_the_same_each_time(agent: str) -> None:
    assert plugin_text(agent, PLACE, {"input", "tool_call"}) == plugin_text(agent, PLACE, ["tool_call", "input"])


@pytest.mark.parametrize("agent", PLUGINS)
def test_it_says_who_wrote_it_and_how_it_goes_away(agent: str) -> None:
    assert f"treblehook uninstall {agent}" in plugin_text(agent, PLACE, ()).splitlines()[0]


def test_each_event_has_its_policy() -> None:
    text = plugin_text("pi", PLACE, {"tool_call"})

    assert text.count('"closed": true') == 1
    assert text.count('"closed",') == 1
