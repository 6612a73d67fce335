"""The protected places: our home, and where the agents that we know keep hooks and the configuration that names them."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.host.agents import KNOWN_AGENTS, KnownAgent, agent_folder, beside_folder, project_folders, user_home


class Place(Struct, frozen=True):
    """A file or folder, there or not, with all that is below it. `path` is absolute; `folder` is the part of it that is its owner's
    alone (`~/.claude` of `~/.claude/settings.json`); `what` says what it is."""

    path: str
    folder: str
    what: str


def user_places(home: Path, environ: Mapping[str, str]) -> Iterator[Place]:
    """The places of a user: our home, and the agents' folders, where they are usually and where the environment puts them."""
    ours = os.path.abspath(home)
    yield Place(ours, ours, "the home of Treblehook, which holds its hooks, rules and tokens")
    for name, agent in KNOWN_AGENTS.items():
        usually = {variable: value for variable, value in environ.items() if variable != agent.variable}
        for variables in (usually, environ) if agent.variable in environ else (usually,):
            yield from _in_folder(agent, str(agent_folder(name, variables)))
            for file in agent.beside_user:
                yield _single(agent, str(beside_folder(name, variables) / file))
        if agent.always:
            yield from _in_folder(agent, os.path.abspath(os.path.join(user_home(environ), agent.always)))


def project_places(workspace: Path) -> Iterator[Place]:
    """The places of a workspace, and of the project that it is in."""
    for folder in project_folders(workspace):
        for agent in KNOWN_AGENTS.values():
            yield from _in_folder(agent, str(folder / agent.project))
            for file in agent.beside_project:
                yield _single(agent, str(folder / file))
    plugins = os.path.abspath(os.path.join(workspace, ".crucible"))
    yield Place(plugins, plugins, "the Lua plugins of the workspace")


def _in_folder(agent: KnownAgent, folder: str) -> Iterator[Place]:
    for entry in agent.deciding:
        yield Place(os.path.join(folder, entry), folder, _what(agent))


def _single(agent: KnownAgent, path: str) -> Place:
    return Place(path, path, _what(agent))


def _what(agent: KnownAgent) -> str:
    return f"the hook configuration of {agent.title}"
