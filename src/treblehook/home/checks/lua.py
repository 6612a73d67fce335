"""Lua that does not load, or registers what can never fire."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.contracts.crucible.caller import USER, WORKSPACE
from treblehook.contracts.crucible.plugins.discovery import find_plugins
from treblehook.contracts.crucible.plugins.plugins import PluginState
from treblehook.engine import Registry
from treblehook.home.asking import OpenSessions
from treblehook.home.lua.log import problems_only
from treblehook.home.lua.machines import LuaMachines, SessionLua
from treblehook.home.settings import Settings
from treblehook.host.isolation import Isolation
from treblehook.host.problems import ConfigInvalid, Problem


class CheckedLua(Struct, frozen=True):
    """What was found, how many handlers there are, the names by which `[hooks."NAME"]` knows them, and how each plugin is."""

    problems: tuple[Problem, ...] = ()
    hooks: int = 0
    names: tuple[str, ...] = ()
    plugins: tuple[PluginState, ...] = ()


async def check_lua(home: Path, workspace: Path | None, settings: Settings, environ: Mapping[str, str]) -> CheckedLua:
    """Load the plugins, the user's init.lua and that of the workspace, if it is trusted, and let them go again. No handler is asked."""
    problems: list[Problem] = []
    registry = Registry()
    machines = LuaMachines(
        home,
        environ,
        registry=registry,
        modes=lambda: settings.modes,
        sections=lambda: settings.plugins,
        kilns=settings.kilns,
        notes=lambda: None,
        sessions=OpenSessions(),
        isolation=Isolation(),
        log=problems_only(problems.append),
        report=problems.append,
    )
    session = Registry(registry)
    try:
        machines.open_session(session, SessionLua("", workspace))
    except ConfigInvalid as invalid:
        problems += invalid.problems
    # What was started while files were loaded shall end before the machines go.
    await asyncio.sleep(0)
    handlers = session.handlers()
    states = () if machines.plugins is None else tuple(machines.plugins.plugins.states())
    await machines.close()
    plugins = [plugin.name for plugin in find_plugins(home, environ, lambda problem: None)]
    return CheckedLua(tuple(dict.fromkeys(problems)), len(handlers), (*plugins, USER, WORKSPACE), states)
