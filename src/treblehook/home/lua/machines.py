"""Making the Lua machines of a home, with everything that their code stands on."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from treblehook.contracts.crucible.caller import USER, WORKSPACE
from treblehook.contracts.crucible.log import Log
from treblehook.contracts.crucible.plugins.discovery import FoundPlugin, find_plugins
from treblehook.engine import Mode, Registry
from treblehook.home.asking import OpenSessions
from treblehook.home.lua.reach import HomeReach
from treblehook.home.trust import HeldBack, WorkspaceLua, trusted_workspace
from treblehook.host.isolation import Isolation
from treblehook.host.notes import Notes
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.runtimes.process import ProcessRuntime

if TYPE_CHECKING:
    # The code behind these loads the Lua library, which a home without Lua does not need.
    from treblehook.contracts.crucible.library.library import Library
    from treblehook.contracts.crucible.library.services import Services
    from treblehook.contracts.crucible.plugins.modules import ModulePlace
    from treblehook.contracts.crucible.plugins.tool import PluginTool
    from treblehook.contracts.crucible.vm import CrucibleVM, Kind
    from treblehook.home.lua.plugins import HomePlugins

INIT: Final = "init.lua"
COMMANDS_AT_ONCE: Final = 256
"""Commands of plugins live as long as they need."""


class SessionLua(Struct, frozen=True):
    """For which session a machine is made. `workspace` is its folder, None where no workspace's code is to run; `trust` trusts that
    code as it is now."""

    session: str
    workspace: Path | None = None
    trust: bool = False


class LuaMachines:
    """Those of the home at `path`. Nothing is made where a home and a workspace bring no Lua.

    `sections` answers `[plugins]` of config.toml, `kilns` and `notes` what there is of notes; `log` takes
    what code says, `report` is told what is wrong.
    """

    def __init__(
        self,
        path: Path,
        environ: Mapping[str, str],
        *,
        registry: Registry,
        modes: Callable[[], Mapping[str, Mode]],
        sections: Callable[[], Mapping[str, Mapping[str, Any]]],
        kilns: Mapping[str, Path],
        notes: Callable[[], Notes | None],
        sessions: OpenSessions,
        isolation: Isolation,
        log: Log,
        report: Callable[[Problem], None],
    ) -> None:
        self._path = path
        self._environ = environ
        self._registry = registry
        self._modes = modes
        self._sections = sections
        self._kilns = kilns
        self._notes = notes
        self._sessions = sessions
        self._isolation = isolation
        self._report = report
        self._log = log
        self._services: Services | None = None
        self._started = False
        self._plugin: tuple[CrucibleVM, Library] | None = None
        self._open: set[SessionMachine] = set()
        self.plugins: HomePlugins | None = None

    def start(self) -> None:
        """Load the plugins and then the user's init.lua into the machine that all sessions share; once, whoever asks again.

        What does not load is reported, and stops nothing else. Raises `ConfigInvalid` where there is Lua and no library to run it:
        hooks that were left out would fail open. Needs a running event loop.
        """
        if self._started:
            return
        found = find_plugins(self._path, self._environ, self._report)
        user = self._user()
        self._check(user or (found[0].file if found else None))
        self._started = True
        if found or user is not None:
            self._load(found, user)

    def _load(self, found: list[FoundPlugin], user: Path | None) -> None:
        from treblehook.home.lua.evaluating import evaluate
        from treblehook.home.lua.plugins import HomePlugins

        self._plugin = self._machine("plugin", self._registry, None)
        vm = self._plugin[0]
        self.plugins = HomePlugins(vm, self._registry, found, self._sections, self._report, self._isolation)
        modules = self.plugins.plugins.modules
        modules.place(USER, self.plugins.plugins.places)
        if user is not None:
            evaluate(vm, modules, USER, user, None)

    def session_machine(self, registry: Registry, wanted: SessionLua) -> "SessionMachine | None":
        """The machine of one session, not made yet: for the user's init.lua, then the workspace's, where that is trusted.

        Its handlers come into `registry`, over the home's. None where there is nothing to run. What was held back is reported. Raises
        `ConfigInvalid` as `start` does.
        """
        self.start()
        user = self._user()
        workspace = self._workspace(wanted)
        self._check(user or (workspace.init if workspace is not None else None))
        files = [] if user is None else [_Source(USER, user, self._places)]
        if workspace is not None:
            files.append(_of_workspace(workspace))
        if not files:
            return None
        return SessionMachine(lambda: self._machine("session", registry, wanted.session), files, self._open)

    def open_session(self, registry: Registry, wanted: SessionLua) -> list[Problem]:
        """Make the machine of a session that is only looked at, and run its files; it is let go with the others. What failed. Raises as
        `start`."""
        machine = self.session_machine(registry, wanted)
        return [] if machine is None else machine.load()

    def tools(self) -> "list[PluginTool]":
        """The tools of the plugins that are loaded now."""
        return [] if self.plugins is None else self.plugins.plugins.tools()

    async def close(self) -> None:
        """Take the plugins out, and let every machine go."""
        for machine in list(self._open):
            await machine.close()
        if self.plugins is not None:
            await self.plugins.plugins.close()
        if self._plugin is not None:
            vm, library = self._plugin
            await library.close()
            vm.close()
        if self._services is not None:
            await self._services.processes.close()
            if self._services.storage is not None:
                self._services.storage.close()

    def _user(self) -> Path | None:
        file = self._path / INIT
        # A link that leads nowhere was meant to be one, and is told as such.
        return file if file.exists() or file.is_symlink() else None

    def _workspace(self, wanted: SessionLua) -> WorkspaceLua | None:
        if wanted.workspace is None:
            return None
        found = trusted_workspace(self._path, wanted.workspace, trust_now=wanted.trust)
        if isinstance(found, HeldBack):
            self._report(found.problem)
            return None
        return found

    def _check(self, file: Path | None) -> None:
        if file is not None and find_spec("lupa") is None:
            problem = "it is Lua, and there is no library to run it, so its hooks would be missing"
            raise ConfigInvalid([Problem(str(file), "", problem, "pip install 'treblehook[lua]'")])

    def _places(self) -> Any:
        return () if self.plugins is None else self.plugins.plugins.places()

    def _machine(self, kind: "Kind", registry: Registry, session: str | None) -> "tuple[CrucibleVM, Library]":
        from treblehook.contracts.crucible.library.install import install
        from treblehook.contracts.crucible.vm import CrucibleVM
        from treblehook.runtimes.lua import LuaVM

        name = "plugins" if session is None else f"session {session}"
        lua = LuaVM(name, output=lambda text: self._log("info", "print", text, "", None))
        vm = CrucibleVM(kind, lua, registry, self._log, session=session, modes=self._modes())
        lua.provide_value("cru.vm", kind)
        if self._services is None:
            self._services = self._make_services()
        return vm, install(vm, self._services)

    def _make_services(self) -> "Services":
        from treblehook.contracts.crucible.library.http_client import HttpClient
        from treblehook.contracts.crucible.library.services import Services
        from treblehook.contracts.crucible.library.storage_file import StorageFile

        folder = self._path / "runtime"
        return Services(
            environ=self._environ,
            processes=ProcessRuntime(at_once=COMMANDS_AT_ONCE),
            http=HttpClient(),
            state=folder / "state",
            storage=StorageFile(folder / "storage.sqlite3"),
            settings=self._sections(),
            kilns=self._kilns,
            workspace=self._sessions.workspace,
            session_folder=lambda session: self._path / "sessions" / session,
            reach=HomeReach(self._sessions, self._isolation, self._report, str(self._path)),
            notes=self._notes(),
        )


class _Source(Struct, frozen=True):
    """A file to be run, by the name of its hooks; `places` are where its modules are, `content` what was read of it before."""

    name: str
    file: Path
    places: "Callable[[], Sequence[ModulePlace]]"
    content: bytes | None = None


def _of_workspace(found: WorkspaceLua) -> _Source:
    from treblehook.contracts.crucible.plugins.modules import in_memory

    place = in_memory(found.folder, found.files)
    return _Source(WORKSPACE, found.init, lambda: (place,), found.files[INIT])


class SessionMachine:
    """The machine of one session: made, and its `files` run, by `load`; until it is closed it is among `those_open`."""

    def __init__(
        self, make: "Callable[[], tuple[CrucibleVM, Library]]", files: Sequence[_Source], those_open: "set[SessionMachine]"
    ) -> None:
        self._make = make
        self._files = files
        self._those_open = those_open
        self._made: tuple[CrucibleVM, Library] | None = None
        self._closing: asyncio.Task[None] | None = None

    def load(self) -> list[Problem]:
        """Run the files, one after the other, which register their handlers; what fails is told, and the next one runs. What failed."""
        from treblehook.contracts.crucible.plugins.modules import Modules
        from treblehook.home.lua.evaluating import evaluate

        vm, _ = self._made = self._make()
        self._those_open.add(self)
        modules = Modules(vm)
        problems = []
        for source in self._files:
            modules.place(source.name, source.places)
            problems.append(evaluate(vm, modules, source.name, source.file, source.content))
        return [problem for problem in problems if problem is not None]

    async def close(self) -> None:
        """Take its handlers out, end what its code has going on, and let it go; once, whoever asks again."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._made is not None:
            vm, library = self._made
            await library.close()
            vm.close()
            self._those_open.discard(self)
