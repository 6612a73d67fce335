"""Lua that does not load, or registers what can never fire."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.contracts.crucible.caller import USER, WORKSPACE
from treblehook.contracts.crucible.plugins.discovery import find_plugins
from treblehook.contracts.crucible.plugins.plugins import PluginState
from treblehook.engine import Registry
from treblehook.home.asking import OpenSessions
from treblehook.home.lua.log import problems_only
from treblehook.home.lua.machines import INIT, LuaMachines, SessionLua
from treblehook.home.settings import Settings
from treblehook.host.isolation import Isolation
from treblehook.host.problems import ConfigInvalid, Problem


class CheckedLua(Struct, frozen=True):
    """What was found, how many handlers there are, the names that `[hooks."NAME"]` may have, those of them that have no handler here,
    and how each plugin is."""

    problems: tuple[Problem, ...] = ()
    hooks: int = 0
    names: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
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
    names = _names(home, environ)
    speaking = {handler.name for handler in handlers}
    idle = tuple(name for name in names if name not in speaking)
    return CheckedLua(tuple(dict.fromkeys(problems)), len(handlers), names, idle, states)


def _names(home: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A workspace that is not looked at here may bring its file too, and a plugin that does not load now will."""
    plugins = (plugin.name for plugin in find_plugins(home, environ, lambda problem: None))
    user = (USER,) if os.path.lexists(home / INIT) else ()
    return (*plugins, *user, WORKSPACE)
