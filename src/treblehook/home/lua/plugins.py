"""The plugins of a home: loaded when something first needs them, reloaded without losing what must stay isolated meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treblehook.contracts.crucible.plugins.discovery import FoundPlugin
from treblehook.contracts.crucible.plugins.plugins import PluginDisabled, Plugins, PluginState
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Registry
from treblehook.host.isolation import Isolation
from treblehook.host.problems import Problem


class PluginBroken(Exception):
    """A plugin did not load again; the message says why, with file and line. It has no hooks until it does."""

    def __init__(self, state: PluginState) -> None:
        super().__init__(state.cause)
        self.state = state


class HomePlugins:
    """The plugins `found`, loaded into `vm`. `sections` are `[plugins.NAME]` of config.toml as they are now."""

    def __init__(
        self,
        vm: CrucibleVM,
        registry: Registry,
        found: Sequence[FoundPlugin],
        sections: Callable[[], Mapping[str, Mapping[str, Any]]],
        report: Callable[[Problem], None],
        isolation: Isolation,
    ) -> None:
        self.plugins = Plugins(vm, registry, found, sections, report)
        self._isolation = isolation
        self.plugins.load()

    async def reload(self, name: str) -> PluginState:
        """Load a plugin again from its files. Raises `PluginUnknown`, `PluginDisabled` and `PluginBroken`.

        What it had claimed for isolation stands until it has loaded: a guard that does not come up leaves nothing open.
        """
        with self._isolation.renewed(name):
            state = await self.plugins.reload(name)
            if state.state == "error":
                raise PluginBroken(state)
        return state

    async def mend(self) -> list[Problem]:
        """Load again what did not load, since its files may have been edited; what is wrong with those that still do not."""
        left = []
        for state in self.plugins.states():
            if state.state == "error":
                try:
                    await self.reload(state.name)
                except PluginBroken as broken:
                    left.append(Problem(state.file, "", f"plugin {state.name} did not load: {broken}"))
                except PluginDisabled:
                    # Whoever has turned it off does without its hooks.
                    continue
        return left
