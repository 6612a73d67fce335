"""The steps from a manifest to hooks and packages that can be started, in the contract's order; no folder has been made then."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.contracts.murmur.bindings import Binding, CommitPolicy
from treblehook.contracts.murmur.staging import StagedHook, stage_hooks
from treblehook.home.components.resolve import Resolved, resolve
from treblehook.runtimes.wasm import Compiling, WasmRuntime


class Staged(Struct, frozen=True):
    """What a launch starts with; whoever has it closes the runtime."""

    resolved: Resolved
    hooks: tuple[StagedHook, ...]
    runtime: WasmRuntime

    @property
    def compacts(self) -> bool:
        """Whether a hook replaces conversations that are full."""
        return any(hook.manifest.hears(Binding.COMPACTION) and hook.manifest.policy is CommitPolicy.REPLACE_CONTEXT for hook in self.hooks)


async def stage(manifest: CapsuleManifest, home: Path, progress: Callable[[str, Compiling], None]) -> Staged:
    """Find the packages, check what hooks say of themselves, then compile. Raises `StagingFailed`."""
    resolved = resolve(manifest.artifacts, home)
    runtime = WasmRuntime(home / "cache" / "wasm")
    try:
        hooks = await stage_hooks(resolved.hooks, runtime, progress)
    except BaseException:
        await runtime.close()
        raise
    return Staged(resolved, tuple(hooks), runtime)
