"""All extensions of a home, from the first session that needs them to the home's end (vera.md 5.3, 5.8)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from types import ModuleType
from typing import Final

from msgspec import Struct

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.extensions.activation import ConfigUnusable, activate_argument, registered, with_environment
from treblehook.contracts.vera.extensions.asking import answered
from treblehook.contracts.vera.extensions.binding import handlers
from treblehook.contracts.vera.extensions.command_hooks import command_hooks
from treblehook.contracts.vera.extensions.extension import Extension
from treblehook.contracts.vera.extensions.manifest import Manifest, read_manifest
from treblehook.contracts.vera.extensions.python_functions import PythonFunctions
from treblehook.contracts.vera.extensions.reporting import Reports
from treblehook.contracts.vera.extensions.sources import Source, find_sources
from treblehook.engine import Handler, Mode
from treblehook.host.asking import AskRefused, AskSession
from treblehook.host.problems import ConfigInvalid
from treblehook.runtimes.modules import AnyModule, ModuleError, RequestFailed
from treblehook.runtimes.node import Module, ModuleSpec, NodeRuntime, Patience
from treblehook.runtimes.node.values import PATIENCE
from treblehook.runtimes.process import ProcessRuntime
from treblehook.runtimes.python import Functions, ModuleHost, PythonModule

API: Final = str(Path(__file__).parent / "api.cjs")


class Seconds(Struct, frozen=True):
    """How long an extension may take (vera.md 5.3), and how long Node may."""

    activate: float = 5.0
    dispose: float = 2.0
    node: Patience = PATIENCE


SECONDS: Final = Seconds()


class _Found(Struct, frozen=True):
    """An extension that could be read."""

    source: Source
    manifest: Manifest
    argument: bytes


class Extensions:
    """The extensions of `home`. `load` them before the first session, `close` after the last.

    `logs` is the folder for their console output. No Node process is started while no extension needs one.
    """

    def __init__(self, home: Path, logs: Path, reports: Reports, ask: AskSession, environ: Mapping[str, str], seconds: Seconds = SECONDS):
        self._home = home
        self._logs = logs
        self._node_log = logs / "node.log"
        self._reports = reports
        self._ask = ask
        self._environ = environ
        self._seconds = seconds
        self._runtime: NodeRuntime | None = None
        self._python: list[PythonModule] = []
        self._active: list[Extension] = []
        self._by_module: dict[Module | PythonModule, tuple[Extension, bytes]] = {}
        self._turn = asyncio.Lock()
        self._loading: asyncio.Task[None] | None = None

    @property
    def active(self) -> tuple[Extension, ...]:
        """The extensions that have loaded, in the order of their hooks."""
        return tuple(self._active)

    @property
    def node(self) -> int | None:
        """The id of the Node process, where one runs."""
        return None if self._runtime is None else self._runtime.pid

    async def load(self, config: VeraConfig) -> None:
        """Activate every extension, once: later calls wait for the first. What does not load is reported, and raises nothing."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load(config))
        # Whoever waits may be cancelled; the others go on waiting.
        await asyncio.shield(self._loading)

    def handlers(
        self, *, runtime: ProcessRuntime, observers: ProcessRuntime, spawned: bool, awaited: bool, modes: Mapping[str, Mode]
    ) -> Iterator[Handler]:
        """The handlers of one session in the order in which they must be registered; the arguments are those of `bind`."""
        for extension in self._active:
            mode = modes.get(extension.id, Mode.ON)
            yield from handlers(extension, runtime=runtime, observers=observers, spawned=spawned, awaited=awaited, mode=mode)

    async def close(self) -> None:
        """Dispose of the extensions, the last first, and end what they ran in."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait({self._loading})
        for extension in reversed(self._active):
            if extension.module is not None and extension.module.ended is None and extension.ready:
                await self._dispose(extension, extension.module)
        self._active.clear()
        await asyncio.gather(*(module.close() for module in self._python))
        if self._runtime is not None:
            await self._runtime.close()

    async def _dispose(self, extension: Extension, module: AnyModule) -> None:
        try:
            async with asyncio.timeout(self._seconds.dispose):
                await module.call("dispose", b"null")
        except TimeoutError:
            self._reports.ended(extension.id, extension.manifest.entry, f"its disposer took more than {self._seconds.dispose:g} s")
        except ModuleError as error:
            self._reports.ended(extension.id, extension.manifest.entry, f"its disposer failed: {error.why}")

    # Loading

    async def _load(self, config: VeraConfig) -> None:
        try:
            sources = find_sources(config, self._home, self._environ)
        except ConfigInvalid as invalid:
            self._reports.problems(invalid.problems)
            return
        found = [one for source in sources if (one := self._read(source)) is not None]
        modules = await self._start([one for one in found if not (one.source.is_included or one.manifest.is_python)])
        for one in found:
            module = None if one.source.is_included or one.manifest.is_python else next(modules)
            if any(extension.id == one.manifest.id for extension in self._active):
                self._fail(one, f"an extension with the id {one.manifest.id} is active already", module)
            elif one.source.is_included:
                self._include(one)
            elif one.manifest.is_python:
                await self._activate(one, self._python_module(one.manifest))
            elif module is not None:
                await self._activate(one, module)

    def _read(self, source: Source) -> _Found | None:
        name = Path(source.folder).name
        try:
            manifest = read_manifest(source.folder)
            name = manifest.id
            return _Found(source, manifest, activate_argument(manifest, with_environment(source.config, self._environ)))
        except ConfigInvalid as invalid:
            self._reports.failed(name, invalid.problems)
        except ConfigUnusable as error:
            self._reports.failed_at(name, source.file, source.place, str(error))
        return None

    async def _start(self, found: list[_Found]) -> Iterator[Module | None]:
        """A module of JavaScript for each of `found`; None for all of them where there is no Node, which is reported."""
        if not found:
            return iter(())
        specs = [ModuleSpec(one.manifest.id, API, str(self._log_of(one.manifest))) for one in found]
        runtime = NodeRuntime(specs, self, environ=self._environ, log=self._node_log, patience=self._seconds.node)
        self._runtime = runtime
        try:
            await runtime.start()
        except ModuleError as error:
            for one in found:
                self._fail(one, error.why)
            return repeat(None)
        return iter(runtime.modules)

    def _python_module(self, manifest: Manifest) -> PythonModule:
        def functions(host: ModuleHost, load: Callable[[], ModuleType]) -> Functions:
            return PythonFunctions(host, load).by_name()

        log = self._log_of(manifest)
        module = PythonModule(manifest.id, manifest.entry, functions, log=log, on_request=self.request, on_ended=self.ended)
        self._python.append(module)
        return module

    def _log_of(self, manifest: Manifest) -> Path:
        return self._logs / "extensions" / f"{manifest.id}.log"

    def _include(self, one: _Found) -> None:
        try:
            hooks = command_hooks(with_environment(one.source.config, self._environ), one.source.file, one.source.place)
        except ConfigInvalid as invalid:
            self._reports.failed(one.manifest.id, invalid.problems)
        else:
            self._active.append(Extension(one.manifest, hooks))

    async def _activate(self, one: _Found, module: Module | PythonModule) -> None:
        try:
            if isinstance(module, Module) and self._runtime is not None:
                await self._runtime.ready()
            async with self._turn:
                value = await self._call_activate(module, one.argument)
        except ModuleError as error:
            self._fail(one, error.why, module)
            return
        extension = Extension(one.manifest, registered(value), module)
        self._by_module[module] = (extension, one.argument)
        self._active.append(extension)

    async def _call_activate(self, module: AnyModule, argument: bytes) -> bytes:
        try:
            async with asyncio.timeout(self._seconds.activate):
                return await module.call("activate", argument)
        except TimeoutError:
            raise ModuleError(f"activate was not done after {self._seconds.activate:g} s") from None

    def _fail(self, one: _Found, why: str, module: Module | PythonModule | None = None) -> None:
        if module is not None:
            self._retire(module, why)
        self._reports.failed_at(one.manifest.id, one.manifest.entry, "", why)

    def _retire(self, module: Module | PythonModule, why: str) -> None:
        if isinstance(module, PythonModule):
            module.retire(why)
        elif self._runtime is not None:
            self._runtime.retire(module, why)

    # What the modules ask and tell; see `Owner` of the Node runtime

    async def request(self, module: Module | PythonModule, name: str, argument: bytes) -> bytes:
        """Answer what the extension in `module` asks."""
        if name == "removed":
            if (known := self._by_module.get(module)) is not None:
                known[0].remove(int(argument))
            return b"null"
        try:
            return await answered(argument, self._ask)
        except AskRefused as refused:
            raise RequestFailed(str(refused)) from refused

    def ended(self, module: Module | PythonModule, why: str) -> None:
        """What an extension ran in is gone. While it is being activated, whoever activates it reports that."""
        if (known := self._by_module.get(module)) is not None and known[0].ready:
            self._reports.ended(known[0].id, known[0].manifest.entry, why)

    async def again(self, module: Module) -> None:
        """Activate an extension once more, in a new process; it must register what it registered before."""
        if (known := self._by_module.get(module)) is None:
            return
        extension, argument = known
        async with self._turn:
            try:
                if registered(await self._call_activate(module, argument)) != extension.registered:
                    raise ModuleError("it registered other hooks than before")
            except ModuleError as error:
                self._lose(extension, module, f"it could not be activated again: {error.why}")
            else:
                extension.ready = True

    def died(self, what: str) -> None:
        """The Node process has died, and every JavaScript extension with it."""
        for module, (extension, _) in self._by_module.items():
            if isinstance(module, Module):
                extension.ready = False
        self._reports.died(self._node_log, what)

    def _lose(self, extension: Extension, module: Module, why: str) -> None:
        self._retire(module, why)
        extension.ready = True
        self._reports.ended(extension.id, extension.manifest.entry, why)
