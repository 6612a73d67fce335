"""The two Lua machines of the crucible contract, a session's and the plugins', around one dispatcher."""

from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from treblehook.contracts.crucible.log import Level
from treblehook.contracts.crucible.vm import LOAD_SECONDS, CrucibleVM, Kind
from treblehook.engine import Background, Dispatcher, Ended, Handler, Journal, Mode, Outcome, Registry
from treblehook.lifecycle import Event
from treblehook.runtimes.lua import LuaLimits, LuaValue, LuaVM

E = TypeVar("E", bound=Event)


def does(name: str, body: str) -> str:
    """Lua that registers a handler which does `body`."""
    return f'cru.on("{name}", function(ctx, event) {body} end)\n'


def returns(name: str, value: str, label: str = "ran") -> str:
    """Lua that registers a handler which is seen as `label` and returns `value`."""
    return does(name, f'seen("{label}") return {value}')


class Line(Struct, frozen=True):
    """One line of the log."""

    level: Level
    owner: str
    text: str
    file: str
    line: int | None


def evaluate(vm: CrucibleVM, file: Path, *, owner: str | None, name: str) -> LuaValue:
    """Run a file as `owner`'s; what it returned."""
    with vm.owned_by(owner, name) as caller:
        returned = vm.lua.run_now(vm.lua.load(file.read_bytes(), str(file)), about=caller, cpu_seconds=LOAD_SECONDS)
    return returned[0] if returned else None


class LuaRig:
    """A session's machine over the plugins' machine. In Lua, `seen(…)` keeps its arguments as one tuple in `seen`, and `cru.log` those of
    a line in `told`.

    Sources are files of `folder`, so that errors have a place. `registry` is given where somebody else fires the events.
    """

    def __init__(
        self,
        folder: Path,
        *,
        registry: Registry | None = None,
        modes: dict[str, Mode] | None = None,
        limits: LuaLimits | None = None,
    ) -> None:
        self.folder = folder
        self.seen: list[tuple[Any, ...]] = []
        self.told: list[tuple[Any, ...]] = []
        self.lines: list[Line] = []
        self.home = registry or Registry()
        self.registry = registry or Registry(self.home)
        self.journal = Journal()
        self.background = Background()
        self.dispatcher = Dispatcher(self.registry, background=self.background, journal=self.journal)
        self._modes = modes or {}
        self._limits = limits or LuaLimits()
        self.plugins = self.machine("plugin", self.home)
        self.session = self.machine("session", self.registry)

    def machine(self, kind: Kind, registry: Registry) -> CrucibleVM:
        """Another machine of that kind."""
        lua = LuaVM(kind, limits=self._limits, output=lambda line: self.seen.append((line,)))
        vm = CrucibleVM(kind, lua, registry, self._log, session="s1" if kind == "session" else None, modes=self._modes)
        lua.provide("seen", lambda *given: self.seen.append(given))
        lua.provide("cru.log", lambda *given: self.told.append(given))
        return vm

    def _log(self, level: Level, owner: str, text: str, file: str, line: int | None) -> None:
        self.lines.append(Line(level, owner, text, file, line))

    def vm(self, kind: str) -> CrucibleVM:
        """The machine of that kind."""
        return self.plugins if kind == "plugin" else self.session

    def load(self, kind: str, source: str, *, owner: str | None = None, name: str | None = None) -> LuaValue:
        """Evaluate `source` as a plugin's file, or as the session's (of the workspace, unless `name` says otherwise)."""
        if kind == "plugin" and owner is None and name is None:
            owner = "digest"
        called = name or owner or "workspace init.lua"
        file = self.folder / f"{called.replace(' ', '_')}.lua"
        file.write_text(source)
        return evaluate(self.vm(kind), file, owner=owner, name=called)

    async def fire(self, event: E) -> Outcome[E]:
        """What the handlers of both machines make of `event`."""
        return await self.dispatcher.fire(event)

    @property
    def asked(self) -> list[str]:
        """The names of the handlers that were asked, in order."""
        return [call.handler.name for call in self.journal.calls]

    @property
    def ends(self) -> list[Ended | None]:
        """How the calls ended, in order."""
        return [call.ended for call in self.journal.calls]

    @property
    def errors(self) -> list[str]:
        """What the journal has as errors of the calls."""
        return [call.error for call in self.journal.calls if call.error is not None]

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings."""
        return [line.text for line in self.lines if line.level == "warn"]

    @property
    def handlers(self) -> list[Handler]:
        """All that are bound."""
        return self.registry.handlers()

    def close(self) -> None:
        """Let both machines go."""
        self.session.close()
        self.plugins.close()
