"""A component that was started: its store with limits and grants, and its exported functions. It is entered by one thread at a time."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

from wasmtime import Engine, Store, WasiConfig, WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Component, ExportIndex, Linker

from treblehook.runtimes.wasm.binding.arena import Arena
from treblehook.runtimes.wasm.binding.convert import Conversion
from treblehook.runtimes.wasm.binding.failure import failure
from treblehook.runtimes.wasm.binding.host import Host, new_error
from treblehook.runtimes.wasm.binding.http import HANDLER, handling
from treblehook.runtimes.wasm.errors import CannotStart, Trapped
from treblehook.runtimes.wasm.grants import Limits, Wasi
from treblehook.runtimes.wasm.output import Capture
from treblehook.runtimes.wasm.types import FunctionType

_SOCKETS: Final = {"wasi:sockets/tcp-create-socket": "create-tcp-socket", "wasi:sockets/udp-create-socket": "create-udp-socket"}
_EPOCH: Final = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ffi.wasmtime_update_deadline_kind_t),
)
_NO_FINALIZER: Final = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


class Guest:
    """Making one starts the component. `stop` is asked whenever the engine's epoch moves on: its text ends what the guest is doing.

    Raises `CallEnded`, `CannotStart`.
    """

    def __init__(
        self,
        engine: Engine,
        conversion: Conversion,
        component: Component,
        imports: Sequence[str],
        hosts: dict[str, list[Host]],
        wasi: Wasi,
        limits: Limits,
        output: tuple[Capture, Capture],
        stop: Callable[[], str | None],
    ) -> None:
        self._conversion = conversion
        self._store = Store(engine)
        self._arena, self._host_arena = Arena(), Arena()
        self._kept: list[object] = []
        self._store.set_limits(
            memory_size=limits.memory_bytes,
            table_elements=limits.table_elements,
            instances=limits.instances,
            memories=limits.memories,
            tables=limits.tables,
        )
        self._heed_epochs(stop)
        try:
            linker = Linker(engine)
            self._link_wasi(linker, imports, wasi, output)
            self._link_hosts(linker, hosts)
            self._instance = linker.instantiate(self._store, component)
        except WasmtimeError as error:
            ended = failure(error)
            self.close()
            raise ended from None
        self._kept.append(linker)

    def function(self, name: str, type: FunctionType) -> Callable[[Sequence[Any]], Any]:
        """The exported function `INTERFACE#FUNCTION`. It raises `CallEnded`, and `WrongValue` before the guest is entered."""
        interface, _, inner = name.partition("#")
        index: ExportIndex | None = self._instance.get_export_index(self._store, interface)
        if inner and index is not None:
            index = self._instance.get_export_index(self._store, inner, index)
        function = None if index is None else self._instance.get_func(self._store, index)
        if function is None:
            raise Trapped(f"{name} is not there")
        called = self._conversion.function(self._store, function, type, self._arena)

        def call(arguments: Sequence[Any]) -> Any:
            try:
                return called(arguments)
            except WasmtimeError as error:
                raise failure(error) from None

        return call

    def close(self) -> None:
        """Give back the guest's memory; it must not be running."""
        self._store.close()
        self._kept.clear()

    def _heed_epochs(self, stop: Callable[[], str | None]) -> None:
        @_EPOCH  # type: ignore[untyped-decorator]
        def reached(context: Any, data: Any, delta: Any, kind: Any) -> Any:
            text = stop()
            if text is not None:
                return new_error(text)
            delta[0] = 1
            kind[0] = 0
            return 0

        self._kept.append(reached)
        ffi.wasmtime_store_epoch_deadline_callback(self._store.ptr(), reached, None, _NO_FINALIZER)
        self._store.set_epoch_deadline(1)

    def _link_wasi(self, linker: Linker, imports: Sequence[str], wasi: Wasi, output: tuple[Capture, Capture]) -> None:
        if not any(name.startswith("wasi:") for name in imports):
            return
        config = WasiConfig()
        config.argv = list(wasi.arguments)
        config.env = list(wasi.environ.items())
        config.stdout_custom, config.stderr_custom = output
        for folder in wasi.folders:
            try:
                config.preopen_dir(str(folder.path), folder.name, folder.writable)
            except WasmtimeError:
                raise CannotStart(f"the granted folder {folder.path} cannot be opened") from None
        self._store.set_wasi(config)
        linker.add_wasip2()
        linker.allow_shadowing = True
        # What may make a socket is replaced by what refuses: the library would make one first, and refuse only to connect it.
        for name, function in _SOCKETS.items():
            self._replace(linker, imports, name, function, lambda store, family: "access-denied")
        if any(name.startswith("wasi:http/") for name in imports):
            linker.add_wasi_http()
            self._store.set_wasi_http()
        if any(name.startswith(f"{HANDLER}@") for name in imports):
            self._replace(linker, imports, HANDLER, "handle", handling(linker.engine, self._store, wasi.requests))

    def _replace(self, linker: Linker, imports: Sequence[str], interface: str, function: str, ours: Callable[..., Any]) -> None:
        """Give the guest `ours` for the library's own `function`, under whatever version it imports `interface`."""
        with linker.root() as root:
            for name in imports:
                if name.partition("@")[0] == interface:
                    with root.add_instance(name) as instance:
                        instance.add_func(function, ours)

    def _link_hosts(self, linker: Linker, hosts: dict[str, list[Host]]) -> None:
        with linker.root() as root:
            for interface, functions in hosts.items():
                with root.add_instance(interface) as instance:
                    self._kept += [self._conversion.define(instance, host, self._host_arena) for host in functions]
