"""What `doctor` finds of the agents that the gateway was installed for."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from treblehook.cli.agents.gateway import open_gateway
from treblehook.gateway.install.health import examine_installed
from treblehook.gateway.install.installations import installations
from treblehook.home.health.finding import Finding, found
from treblehook.host.problems import ConfigInvalid


async def examine_agents(home: Path, environ: Mapping[str, str], workspace: Path) -> AsyncIterator[Finding]:
    """What is found, as it is found; nothing where the gateway was installed for no agent."""
    try:
        entries = installations(home, environ)
        if not entries:
            return
        gateway = await open_gateway(home, environ, workspace)
    except ConfigInvalid as invalid:
        for problem in invalid.problems:
            yield found("gateway", problem)
        return
    for installed in entries:
        async for finding in examine_installed(installed, gateway, environ, workspace):
            yield finding
