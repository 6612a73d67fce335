"""Which agents a run is for (`--agents "codex pi"`; else those that are installed), and an agent that is set up."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.real_agents.agents import AGENTS
from tests.real_agents.guarded import Guarded
from tests.real_agents.install import installed
from tests.real_agents.launch import TIME_LIMIT, Client
from tests.support.fake_model import FakeModel, fake_model
from tests.support.needs import require_node

__all__ = ["fake_model"]

SECONDS = 3 * TIME_LIMIT
"""A guard against hangs: longer than a run of an agent may take."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--agents", default="", help=f"agents to run, separated by spaces: {' '.join(AGENTS)}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "agents(*names): the test of an `agent` is for these only")
    names = _chosen(config)
    if not names:
        raise pytest.UsageError("no agent is installed; `make test-agents` installs them")
    for name in names:
        if name not in AGENTS:
            raise pytest.UsageError(f"--agents: no such agent: {name}; there are {' '.join(AGENTS)}")
        if not installed(name):
            raise pytest.UsageError(f"{name} is not installed; `make test-agents AGENTS={name}` installs it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "agent" in metafunc.fixturenames:
        metafunc.parametrize("agent", AGENTS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests of agents that this run, or the test's own mark, is not for; the others get time, since agents are slow."""
    chosen = set(_chosen(config))
    left_out = [item for item in items if isinstance(item, pytest.Function) and not _meant(item, chosen)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture
def client(agent: str, tmp_path: Path, fake_model: Callable[[object], FakeModel]) -> Client:
    """The agent, not yet started, in a HOME that has no hooks."""
    client = Client(agent, tmp_path, fake_model([]))
    if AGENTS[agent].node:
        require_node(AGENTS[agent].node, client.environ()["PATH"])
    return client


@pytest.fixture
def guarded(client: Client, tmp_path: Path) -> Iterator[Guarded]:
    """The agent with a home of ours, in which there are no hooks yet; nothing is installed."""
    guarded = Guarded(client, tmp_path)
    yield guarded
    guarded.close()


def _chosen(config: pytest.Config) -> list[str]:
    named: str = config.getoption("--agents")
    return named.split() or [name for name in AGENTS if installed(name)]


def _meant(item: pytest.Function, chosen: set[str]) -> bool:
    callspec = getattr(item, "callspec", None)
    if callspec is None or "agent" not in callspec.params:
        return True
    agent = callspec.params["agent"]
    return agent in chosen and all(agent in mark.args for mark in item.iter_markers("agents"))
