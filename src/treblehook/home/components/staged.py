"""What all sessions of a home share of its components: they are found, checked and compiled once."""

import asyncio
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from treblehook.home.table import Table
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.host.tokens import TokenCounter, counter

if TYPE_CHECKING:
    # The code behind these loads the WebAssembly library, which a home without components does not need.
    from treblehook.contracts.murmur.staging import StagedHook
    from treblehook.home.components.entries import ArtifactEntry
    from treblehook.runtimes.wasm import WasmRuntime


class Staged(Struct, frozen=True):
    """The hooks in the order of the list, and what they run in."""

    hooks: "tuple[StagedHook, ...]"
    runtime: "WasmRuntime"
    tokens: TokenCounter


class HomeComponents:
    """Those of the home at `path`; `listed` are its `[[artifacts]]` as they stand in `file`. `report` is told warnings."""

    def __init__(self, path: Path, file: Path, listed: tuple[dict[str, Any], ...], report: Callable[[Problem], None]) -> None:
        self._path = path
        self._file = file
        self._listed = listed
        self._report = report
        self._staging: asyncio.Task[Staged] | None = None

    async def staged(self) -> Staged | None:
        """The hooks, staged once, whoever asks again; None where none is listed.

        Raises `ConfigInvalid` where one cannot be: a policy that was left out would fail open.
        """
        if not self._listed:
            return None
        if self._staging is None:
            self._staging = asyncio.ensure_future(self._stage())
        return await asyncio.shield(self._staging)

    async def _stage(self) -> Staged:
        missing = [module for module in ("wasmtime", "yaml") if find_spec(module) is None]
        if missing:
            problem = f"{', '.join(missing)} is not installed, so these hooks would be missing"
            raise ConfigInvalid([Problem(str(self._file), "artifacts", problem, "pip install 'treblehook[wasm]'")])
        from treblehook.contracts.murmur.bindings import Binding
        from treblehook.contracts.murmur.errors import StagingFailed
        from treblehook.contracts.murmur.staging import stage_hooks
        from treblehook.home.components.entries import read_artifacts
        from treblehook.home.components.resolve import resolve
        from treblehook.runtimes.wasm import WasmRuntime

        entries = self._entries(read_artifacts)
        runtime = WasmRuntime(self._path / "cache" / "wasm")
        try:
            resolved = await asyncio.to_thread(resolve, entries, self._path)
            hooks = await stage_hooks(resolved.hooks, runtime)
            for hook in hooks:
                if hook.manifest.binding is Binding.STAGE:
                    name, version = hook.manifest.name, hook.manifest.version
                    raise StagingFailed(name, version, f"hook {name}@{version} is bound to on-stage, and only a capsule is staged")
        except StagingFailed as failed:
            await runtime.close()
            place = next((entry.place for entry in entries if entry.name == failed.artifact), "artifacts")
            raise ConfigInvalid([Problem(str(self._file), place, str(failed))]) from failed
        except BaseException:
            await runtime.close()
            raise
        return Staged(tuple(hooks), runtime, await asyncio.to_thread(counter))

    def _entries(self, read: "Callable[[Table, Path], Iterator[ArtifactEntry]]") -> "list[ArtifactEntry]":
        """The entries of the list. Raises `ConfigInvalid` with everything that is wrong with it."""
        file, problems = str(self._file), list[Problem]()
        entries = list(read(Table({"artifacts": list(self._listed)}, file, "", problems), self._path))
        for entry in entries:
            if entry.runtime != "hook":
                what = f"{entry.name} is a {entry.runtime}; outside a capsule only hooks are run"
                problems.append(Problem(file, entry.place, what, 'runtime = "hook"'))
        if any(problem.level == "error" for problem in problems):
            raise ConfigInvalid(problems)
        for warning in problems:
            self._report(warning)
        return entries

    async def close(self) -> None:
        """End every instance; sessions are closed before."""
        if self._staging is None:
            return
        self._staging.cancel()
        found = (await asyncio.gather(self._staging, return_exceptions=True))[0]
        if isinstance(found, Staged):
            await found.runtime.close()
