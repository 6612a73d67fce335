"""Where calls must not be lost: the events at which a home has a handler that stands for a refusal when it gives no answer."""

from collections.abc import Iterable
from pathlib import Path

from treblehook.engine import Mode, Registry
from treblehook.gateway.service import is_closed
from treblehook.home.home import Home
from treblehook.home.listing import bound_handlers
from treblehook.home.lua.machines import SessionLua
from treblehook.home.trust import TrustStore
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.lifecycle import Event, PreToolCall, ToolProposed


async def closed_events(home: Home, workspace: Path) -> frozenset[type[Event]]:
    """Those of the home's own hooks, of the code of `workspace` and of every other workspace that is trusted and still there: an
    installation is for all of them. Rules of the home that deny calls or want them asked count as a guard too.

    Raises `ConfigInvalid` where a session of an agent would not start: what guards there is not known.
    """
    found: set[type[Event]] = {ToolProposed, PreToolCall} if home.settings.permissions.guards else set()
    unloaded: list[Problem] = []
    for place in _workspaces(home, workspace):
        handlers = [bound.handler for bound in await bound_handlers(home, place)]
        found |= {handler.event for handler in handlers if handler.mode is Mode.ON and is_closed(handler)}
        unloaded += home.lua.open_session(Registry(), SessionLua("", place))
    if home.lua.plugins is not None:
        unloaded += await home.lua.plugins.mend()
    if unloaded:
        raise ConfigInvalid(list(dict.fromkeys(unloaded)))
    return frozenset(found)


def _workspaces(home: Home, workspace: Path) -> Iterable[Path]:
    trusted = (Path(entry.workspace) for entry in TrustStore(home.path).entries())
    return dict.fromkeys((workspace, *(place for place in trusted if place.is_dir())))
