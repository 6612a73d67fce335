"""What is installed: as the home remembers it, and as the agents' own files tell."""

from collections.abc import Mapping
from pathlib import Path

from treblehook.gateway.agents import AGENTS
from treblehook.gateway.install.files import find, text_of
from treblehook.gateway.install.homes import homes_of, homes_of_plugin
from treblehook.gateway.install.places import DIALECTS, settings_file
from treblehook.gateway.install.record import Installed, Record
from treblehook.gateway.install.settings import Settings
from treblehook.host.problems import ConfigInvalid


def installations(home: Path, environ: Mapping[str, str]) -> list[Installed]:
    """Those that the home remembers; then what stands in an agent's file and asks this home, or one that is not there any more. Raises
    `ConfigInvalid` where the record cannot be read."""
    entries = Record(home).entries()
    known = {(one.agent, one.file) for one in entries}
    places = ((agent, settings_file(agent, environ)) for agent in AGENTS)
    strays = [(agent, file) for agent, file in places if (agent, str(file)) not in known and _is_stray(agent, file, home)]
    return [*entries, *(Installed(agent, str(file)) for agent, file in strays)]


def _is_stray(agent: str, file: Path, home: Path) -> bool:
    return any(asked == home or not asked.is_dir() for asked in _homes(agent, file))


def _homes(agent: str, file: Path) -> list[Path]:
    try:
        text = text_of(find(file))
        if text is None or not text.strip():
            return []
        if agent not in DIALECTS:
            return homes_of_plugin(text)
        own = Settings(agent, str(file), DIALECTS[agent]).own(text)
    except ConfigInvalid:
        # Its agent cannot read it either, and asks nobody.
        return []
    return homes_of(handler for each in own.values() for *_, handler in each)
