"""`treblehook install`, `doctor` and `uninstall` around a real agent."""

from pathlib import Path

from tests.real_agents.agents import AGENTS
from tests.real_agents.guarded import Guarded
from tests.real_agents.home_hooks import lua_guard
from tests.real_agents.launch import Client
from tests.real_agents.scenarios import MARK, leaves_mark
from treblehook.gateway.install.places import settings_file

REASON = "the treasure stays where it is"


def test_what_was_installed_answers_and_goes_again(agent: str, client: Client, guarded: Guarded) -> None:
    lua_guard(guarded, REASON)
    file = settings_file(agent, client.environ())
    places = [file, *(client.home / path for path in AGENTS[agent].files)]
    before = _contents(places)

    guarded.install()
    installed = _contents(places)
    assert installed != before
    assert "nothing to change" in guarded.install()
    assert _contents(places) == installed
    found = guarded.treblehook("doctor")
    assert f"{agent} probe" in found

    guarded.treblehook("uninstall", agent, "--yes")
    assert _contents(places) == before

    ran = client.run(leaves_mark(agent))
    assert (client.workspace / MARK).exists(), ran


def _contents(places: list[Path]) -> list[bytes | None]:
    return [file.read_bytes() if file.exists() else None for file in places]
