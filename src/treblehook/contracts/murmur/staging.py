"""From the operator's list to hooks that can be started: everything that can be known of them before anything of them runs."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from treblehook.contracts.murmur.artifact import Artifact
from treblehook.contracts.murmur.errors import HookUnusable, StagingFailed
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.hook_manifest import HookManifest, parse_hook_manifest
from treblehook.contracts.murmur.imports.granted import TYPES_ONLY
from treblehook.contracts.murmur.interfaces import CONVERSATION, INFERENCE, LIFECYCLE, REQUIRED, TASK_IO, TOKENS, export, interface
from treblehook.runtimes.wasm import (
    SEALED_WASI,
    Compiling,
    Component,
    Grants,
    HostFunction,
    HostInterface,
    ImportNotGranted,
    WasmError,
    WasmRuntime,
    WrongImport,
)

REBUILD: Final = f"rebuild it for {LIFECYCLE}"


class HookEntry(Struct, frozen=True):
    """A hook as the operator lists it; `version` is "" where that is left to the hook."""

    name: str
    version: str = ""
    grant: Grant = Grant()
    overflow: Literal["drop", "block"] = "drop"


class StagedHook(Struct, frozen=True):
    """A hook that can be started."""

    manifest: HookManifest
    artifact: Artifact
    component: Component
    grant: Grant
    overflow: Literal["drop", "block"] = "drop"


async def stage_hooks(
    listed: Sequence[tuple[HookEntry, Artifact]], runtime: WasmRuntime, progress: Callable[[str, Compiling], None] | None = None
) -> list[StagedHook]:
    """The hooks in the order of the list. What all of them say of themselves is checked before the first is compiled, of which
    `progress` is told with the name of the hook.

    Raises `StagingFailed`; nothing has run then.
    """
    twice = [name for name, times in Counter(entry.name for entry, _ in listed).items() if times > 1]
    if twice:
        raise StagingFailed(twice[0], "", f"the hook {twice[0]} is listed twice; list it once, its log and its state have its name")
    manifests = [parse_hook_manifest(artifact.manifest, entry.name, entry.version) for entry, artifact in listed]
    staged = []
    for (entry, artifact), manifest in zip(listed, manifests, strict=True):
        component = await _load(manifest, artifact, runtime, progress)
        _check_exports(manifest, component)
        _check_imports(manifest, component)
        staged.append(StagedHook(manifest, replace(artifact, payload=b""), component, entry.grant, entry.overflow))
    return staged


async def _load(
    hook: HookManifest, artifact: Artifact, runtime: WasmRuntime, progress: Callable[[str, Compiling], None] | None
) -> Component:
    told = None if progress is None else lambda compiling: progress(hook.name, compiling)
    try:
        return await runtime.load(artifact.payload, told)
    except WasmError as error:
        raise HookUnusable(hook.name, hook.version, f"{artifact.payload_name}: {error}", "build a component and pack it again") from error


def _check_exports(hook: HookManifest, component: Component) -> None:
    exported = component.exports
    if not any(name.startswith(f"{LIFECYCLE}#") for name in exported):
        others = sorted({name.partition("#")[0] for name in exported if name.startswith("murmur:hook/lifecycle")})
        found = f"; it exports {', '.join(others)}" if others else ""
        raise HookUnusable(hook.name, hook.version, f"it does not export {LIFECYCLE}, the only version that is served{found}", REBUILD)
    missing = [binding.value for binding in REQUIRED if export(binding) not in exported]
    if missing:
        raise HookUnusable(
            hook.name,
            hook.version,
            f"it does not export {', '.join(missing)} of {LIFECYCLE}, which every hook must, bound to it or not",
            REBUILD,
        )


def _check_imports(hook: HookManifest, component: Component) -> None:
    try:
        component.check_imports(Grants(_offered(), SEALED_WASI))
    except ImportNotGranted as error:
        served = ", ".join(error.others) or "the four interfaces of the world murmur:runtime/hook and WASI 0.2"
        raise HookUnusable(hook.name, hook.version, f"it imports {error.name}, which is not served", f"rebuild it for {served}") from error
    except WrongImport as error:
        raise HookUnusable(hook.name, hook.version, str(error), f"rebuild it for {error.name.partition('#')[0]}") from error


def _offered() -> list[HostInterface]:
    """The imports by their types alone: who serves them is known only when a launch begins."""
    served = {name: interface(name).functions for name in (INFERENCE, TOKENS, TASK_IO, CONVERSATION)}
    stubs = [HostInterface(name, {each: HostFunction(type, _nobody) for each, type in types.items()}) for name, types in served.items()]
    return [TYPES_ONLY, *stubs]


def _nobody(*arguments: object) -> object:
    raise NotImplementedError
