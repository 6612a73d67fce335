"""The plugins of a home in its one plugin VM: loaded in order, reloaded without leftovers, each with its state (crucible.md 2.8)."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.plugins.calling import Calling
from treblehook.contracts.crucible.plugins.discovery import FoundPlugin, Report
from treblehook.contracts.crucible.plugins.loading import Loaded, PluginInvalid, cause_of, load_plugin
from treblehook.contracts.crucible.plugins.modules import ModulePlace, Modules, on_disk
from treblehook.contracts.crucible.plugins.spec import DeclaredTool
from treblehook.contracts.crucible.plugins.tool import PluginTool
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Registry, Tier
from treblehook.host.problems import Problem
from treblehook.runtimes.lua import LuaFailed, LuaFunction

UNLOAD_SECONDS: Final = 5.0
"""How long `on_unload` may wait; the plugin goes in any case."""

Settings = Callable[[], Mapping[str, Mapping[str, Any]]]


class PluginUnknown(Exception):
    """There is no plugin of this name; `known` are those that there are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}"
        super().__init__(f"no plugin is named {name!r}; {hint}")
        self.name = name
        self.known = tuple(known)


class PluginDisabled(Exception):
    """A plugin that is switched off cannot be reloaded."""

    def __init__(self, name: str) -> None:
        super().__init__(f"plugin {name!r} is disabled: [plugins.{name}] enabled = false")
        self.name = name


class PluginState(Struct, frozen=True):
    """How a plugin is. `cause` says why it is in the state `error`; `handlers` counts what is registered now, by event."""

    name: str
    state: Literal["loaded", "disabled", "error"]
    file: str
    version: str = ""
    description: str = ""
    cause: str | None = None
    handlers: dict[str, int] = {}
    tools: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


class _Plugin:
    """One plugin, whatever its state; `loaded` is set while it is in."""

    def __init__(self, found: FoundPlugin) -> None:
        self.found = found
        self.loaded: Loaded | None = None
        self.disabled = False
        self.cause: str | None = None
        self.tools: tuple[PluginTool, ...] = ()
        self.known_tools: dict[str, PluginTool] = {}
        self.services: dict[str, asyncio.Task[None]] = {}
        self.changing = asyncio.Lock()


class Plugins:
    """Loads `found` into `vm`, whose handlers are in `registry`; `settings` answers `[plugins]` as it is now, by name.

    What is wrong with a plugin goes to `report`, and into its state; it disturbs no other. Needs a running event loop.
    """

    def __init__(self, vm: CrucibleVM, registry: Registry, found: Sequence[FoundPlugin], settings: Settings, report: Report) -> None:
        self._vm = vm
        self._registry = registry
        self._settings = settings
        self._report = report
        self._plugins = {plugin.name: _Plugin(plugin) for plugin in found}
        self._renewing: set[asyncio.Task[PluginState]] = set()
        self.modules = Modules(vm)
        self._calling = Calling(vm.lua)

    def load(self) -> None:
        """Load every plugin that is enabled, in order."""
        for name in self._settings().keys() - self._plugins.keys():
            self._report(Problem("", f"plugins.{name}", str(PluginUnknown(name, list(self._plugins))), level="warning"))
        for plugin in self._plugins.values():
            self._load(plugin)

    async def reload(self, name: str) -> PluginState:
        """Take a plugin out, `on_unload` first, and load it anew from its files: its handlers come behind those of equal priority.

        Where it does not load, nothing of it is left. Raises `PluginUnknown`, `PluginDisabled`.
        """
        plugin = self._plugins.get(name)
        if plugin is None:
            raise PluginUnknown(name, list(self._plugins))
        # Whoever asked for it may go away in the middle; a guard must not be left out for that.
        renewing = asyncio.ensure_future(self._renew(plugin))
        self._renewing.add(renewing)
        renewing.add_done_callback(self._renewing.discard)
        return await asyncio.shield(renewing)

    async def _renew(self, plugin: _Plugin) -> PluginState:
        async with plugin.changing:
            if self._section(plugin).get("enabled") is False:
                raise PluginDisabled(plugin.found.name)
            await self._unload(plugin)
            self._load(plugin)
        return self._state(plugin)

    def states(self) -> list[PluginState]:
        """Every plugin, in the order of loading."""
        return [self._state(plugin) for plugin in self._plugins.values()]

    def tools(self) -> list[PluginTool]:
        """The tools of the plugins that are loaded now; the first of a name counts."""
        by_name: dict[str, PluginTool] = {}
        for plugin in self._plugins.values():
            for tool in plugin.tools:
                by_name.setdefault(tool.spec.name, tool)
        return list(by_name.values())

    def places(self) -> tuple[ModulePlace, ...]:
        """Where the modules of all plugins that are loaded are: what the user's own `init.lua` may require too, as copies of its own."""
        return tuple(place for plugin in self._plugins.values() if plugin.loaded is not None for place in _places(plugin.found))

    async def close(self) -> None:
        """Take all plugins out, the last one first; each `on_unload` has five seconds. Reloads that are under way come to their end."""
        await asyncio.gather(*self._renewing, return_exceptions=True)
        for plugin in reversed(self._plugins.values()):
            async with plugin.changing:
                await self._unload(plugin)

    def _load(self, plugin: _Plugin) -> None:
        name = plugin.found.name
        plugin.cause = None
        try:
            settings = dict(self._section(plugin))
            plugin.disabled = not _enabled(name, settings.pop("enabled", True))
            if plugin.disabled:
                return
            self.modules.place(name, lambda: _places(plugin.found))
            loaded = load_plugin(self._vm, self.modules, self._calling, plugin.found, settings)
        except PluginInvalid as invalid:
            self._clear(plugin)
            plugin.cause = str(invalid)
            self._report(Problem(str(plugin.found.file), "", f"plugin {name} did not load: {invalid}"))
            return
        for warning in loaded.warnings:
            self._report(warning)
        plugin.loaded = loaded
        plugin.tools = tuple(self._tools(plugin, loaded))
        plugin.services = {service: self._start(plugin, service, run) for service, run in loaded.spec.services.items()}

    def _section(self, plugin: _Plugin) -> Mapping[str, Any]:
        return self._settings().get(plugin.found.name, {})

    def _tools(self, plugin: _Plugin, loaded: Loaded) -> list[PluginTool]:
        name, tools = plugin.found.name, []
        for declared in loaded.spec.tools:
            holder = next((tool.plugin for tool in self.tools() if tool.spec.name == declared.spec.name), None)
            if holder is not None:
                what = f"plugin {name}: its tool {declared.spec.name} is not used, plugin {holder} has one of that name"
                self._report(Problem(str(plugin.found.file), "", what, level="warning"))
            tools.append(self._tool(plugin, declared))
        return tools

    def _tool(self, plugin: _Plugin, declared: DeclaredTool) -> PluginTool:
        """The tool; the one that sessions have already, where there was one of the name before."""
        name = declared.spec.name
        if name in plugin.known_tools:
            plugin.known_tools[name].declare(declared)
        else:
            plugin.known_tools[name] = PluginTool(self._vm, plugin.found.name, declared)
        return plugin.known_tools[name]

    def _start(self, plugin: _Plugin, service: str, run: LuaFunction) -> asyncio.Task[None]:
        name, file = plugin.found.name, str(plugin.found.file)
        about = Caller(owner=name, event="service", hook=name)

        async def serve() -> None:
            try:
                # A service may wait as long as it likes.
                await self._calling.waiting(run, about=about, seconds=math.inf)
            except LuaFailed as failed:
                self._report(Problem(file, "", f"plugin {name}: its service {service} failed: {cause_of(failed, plugin.found.file)}"))

        return asyncio.get_running_loop().create_task(serve())

    async def _unload(self, plugin: _Plugin) -> None:
        name, loaded = plugin.found.name, plugin.loaded
        if loaded is not None and loaded.spec.on_unload is not None:
            about = Caller(owner=name, event="on_unload", hook=name)
            try:
                await self._calling.waiting(loaded.spec.on_unload, about=about, seconds=UNLOAD_SECONDS)
            except LuaFailed as failed:
                what = f"plugin {name}: its on_unload failed: {cause_of(failed, plugin.found.file)}"
                self._report(Problem(str(plugin.found.file), "", what, level="warning"))
        services = list(plugin.services.values())
        self._clear(plugin)
        await asyncio.gather(*services, return_exceptions=True)

    def _clear(self, plugin: _Plugin) -> None:
        """Nothing of the plugin is left; what of it is waiting right now ends, and its answer does not count."""
        self._vm.clear(plugin.found.name)
        try:
            self.modules.forget(plugin.found.name)
        except LuaFailed as failed:
            # A machine whose memory is full does nothing any more.
            what = f"plugin {plugin.found.name}: its modules stay in memory: {failed.message}"
            self._report(Problem(str(plugin.found.file), "", what, level="warning"))
        for service in plugin.services.values():
            service.cancel()
        for tool in plugin.known_tools.values():
            tool.retire()
        plugin.loaded, plugin.tools, plugin.services = None, (), {}

    def _state(self, plugin: _Plugin) -> PluginState:
        found, loaded = plugin.found, plugin.loaded
        if loaded is None:
            return PluginState(found.name, "disabled" if plugin.disabled else "error", str(found.file), cause=plugin.cause)
        return PluginState(
            found.name,
            "loaded",
            str(found.file),
            version=loaded.manifest.version or loaded.spec.version,
            description=loaded.manifest.description or loaded.spec.description,
            handlers=dict(Counter(self._registered(found.name))),
            tools=tuple(tool.spec.name for tool in plugin.tools),
            services=tuple(service for service, task in plugin.services.items() if not task.done()),
        )

    def _registered(self, name: str) -> list[str]:
        handlers = self._registry.handlers()
        return [h.origin.event for h in handlers if h.tier is Tier.PLUGIN and h.name == name and h.origin.contract == "crucible"]


def _enabled(name: str, value: object) -> bool:
    """Raises `PluginInvalid` for what is no boolean: neither choice would be the user's."""
    if isinstance(value, bool):
        return value
    raise PluginInvalid(f"[plugins.{name}] enabled: found {value!r}; allowed: true, false")


def _places(found: FoundPlugin) -> tuple[ModulePlace, ...]:
    return () if found.folder is None else (on_disk(found.folder),)
