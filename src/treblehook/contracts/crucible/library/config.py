"""`cru.plugin.config` and `cru.config`: settings from `[plugins.NAME]` in config.toml; `setup` gets the same table (crucible.md 10.2)."""

import datetime
from collections.abc import Mapping
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import WORD
from treblehook.contracts.crucible.library.library import Library


def install_plugin(library: Library) -> None:
    library.provide_lua("cru.plugin", "plugin", lambda: _own(library), lambda *given: _get_own(library, given))


def install_config(library: Library) -> None:
    library.lua.provide("cru.config.get", lambda *given: _get(library, given))


def for_lua(value: Any) -> Any:
    """A value of a TOML file, in which Lua has a counterpart for everything but dates and times: they become ISO text."""
    match value:
        case datetime.date() | datetime.time():
            return value.isoformat()
        case Mapping():
            return {name: for_lua(item) for name, item in value.items()}
        case list():
            return [for_lua(item) for item in value]
    return value


def _own(library: Library) -> Any:
    """The settings of the plugin that calls, as `setup` gets them; none for code that belongs to no plugin."""
    settings = library.services.settings.get(library.caller.owner or "", {})
    return {name: for_lua(value) for name, value in settings.items() if name != "enabled"}


def _get_own(library: Library, given: tuple[object, ...]) -> Any:
    """`get("key")`, with dots into tables. A key that the plugin does not have may begin with a plugin's name."""
    key = Arguments("cru.plugin.config.get", given).take("key", WORD)
    found = _look(_own(library), key)
    return _look_everywhere(library, key) if found is None else found


def _get(library: Library, given: tuple[object, ...]) -> Any:
    """`get("plugin.key")`, nil where it is not set."""
    return _look_everywhere(library, Arguments("cru.config.get", given).take("key", WORD))


def _look_everywhere(library: Library, key: str) -> Any:
    plugin, _, rest = key.partition(".")
    settings = for_lua(library.services.settings.get(plugin))
    return _look(settings, rest) if rest else settings


def _look(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = settings.get(name) if isinstance(settings, dict) else None
    return settings
