"""The WebAssembly runtime: one engine, and all that was started with it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

from treblehook.runtimes.wasm.binding.convert import conversion
from treblehook.runtimes.wasm.binding.engine import make_engine
from treblehook.runtimes.wasm.cache import CodeCache
from treblehook.runtimes.wasm.component import Component
from treblehook.runtimes.wasm.deadlines import Deadlines
from treblehook.runtimes.wasm.errors import RuntimeClosed
from treblehook.runtimes.wasm.grants import Grants, Limits
from treblehook.runtimes.wasm.instance import Instance
from treblehook.runtimes.wasm.loading import Loader
from treblehook.runtimes.wasm.types import FunctionType
from treblehook.runtimes.wasm.worker import Worker

START_SECONDS: Final = 30.0
_TOLD_EVERY: Final = 0.25
NOTHING: Final = Grants()
DEFAULT_LIMITS: Final = Limits()


class Compiling(Struct, frozen=True):
    """A component of `bytes` bytes is being compiled since `seconds`; `done` once, when it was. How far it is nobody knows."""

    bytes: int
    seconds: float
    done: bool


class WasmRuntime:
    """One for a process; `close` it before its loop ends, or use it as an `async with` block. `cache` is the folder for compiled code."""

    def __init__(self, cache: Path | None = None) -> None:
        self._engine = make_engine()
        self._conversion = conversion()
        self._deadlines = Deadlines(self._engine.increment_epoch)
        self._cache = None if cache is None else CodeCache(cache)
        self._loader = Loader(self._engine, self._cache)
        self._instances: set[Instance] = set()
        self._closed = False

    @property
    def cache_problem(self) -> str | None:
        """Why compiled code could not be kept or taken from disk the last time; everything works without."""
        return None if self._cache is None else self._cache.problem

    async def load(self, source: bytes | Path, progress: Callable[[Compiling], None] | None = None) -> Component:
        """Load a component, or the text of one, from memory or a file; `progress` hears of it only if it has to be compiled.

        Raises `NotAComponent`, `CoreModule`, `TooLarge`, `CannotCompile`, `CannotStart`, and `OSError` where the file cannot be read.
        """
        if self._closed:
            raise RuntimeClosed
        size: list[int] = []
        worker = Worker("treblehook-wasm-load")
        loading = worker.run(lambda: self._loader.load(source, size.append))
        worker.end()
        began = time.monotonic()
        while progress is not None:
            done, _ = await asyncio.wait({loading}, timeout=_TOLD_EVERY)
            if size:
                progress(Compiling(size[0], time.monotonic() - began, bool(done)))
            if done:
                break
        component = await loading
        worker.join()
        return component

    async def open(
        self,
        component: Component,
        exports: Mapping[str, FunctionType],
        grants: Grants = NOTHING,
        limits: Limits = DEFAULT_LIMITS,
        *,
        seconds: float = START_SECONDS,
    ) -> Instance:
        """Start an instance of `component`, of which the functions in `exports` will be called.

        Raises `ImportNotGranted` and `WrongImport` before anything starts; `CallEnded` (`DeadlineExceeded`, `Trapped`, `TooManyResources`)
        if its start fails or takes more than `seconds`; `CannotStart`. What it exports is compared when it is called, see
        `Component.check_export`.
        """
        if self._closed:
            raise RuntimeClosed
        component.check_imports(grants)
        instance = Instance(self._engine, self._conversion, self._deadlines, component, exports, grants, limits, self._instances.discard)
        self._instances.add(instance)
        try:
            await instance.start(seconds)
        except BaseException:
            await instance.close()
            raise
        return instance

    async def close(self) -> None:
        """End every instance and every thread; twice is fine."""
        self._closed = True
        await asyncio.gather(*(instance.close() for instance in list(self._instances)))
        self._deadlines.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
