"""The agent that runs is the one that package.json pins."""

from tests.real_agents.install import versions
from tests.real_agents.launch import Client


def test_the_agent_has_the_pinned_version(agent: str, client: Client) -> None:
    assert next(iter(versions(agent).values())) in client.version()
