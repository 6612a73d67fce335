"""One event at one component, to see what it answers: for its author, outside of any session."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.murmur.artifact import MANIFEST, Artifact, read_artifact
from treblehook.contracts.murmur.bindings import GATEABLE, Binding
from treblehook.contracts.murmur.failures import CallFailed
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.launch import Launch
from treblehook.contracts.murmur.payloads import POINTS, LaunchFacts
from treblehook.contracts.murmur.running import RunningHook
from treblehook.contracts.murmur.services import MurmurServices, TaskText
from treblehook.contracts.murmur.staging import HookEntry, StagedHook, stage_hooks
from treblehook.contracts.murmur.yaml_text import YamlInvalid, parse_yaml
from treblehook.host.tokens import counter
from treblehook.lifecycle import Event, Message
from treblehook.runtimes.wasm import Err, WasmRuntime

FACTS: Final = LaunchFacts("dry-run", "0.0.0")


class Fired(Struct, frozen=True):
    """What a component answered: `arm` and what it carries, or an `error` (its own, or why there is no answer). `refuses` is true where a
    policy hook would stop the call, `ms` how long it took."""

    hook: str
    binding: Binding
    arm: str | None
    value: Any = None
    error: str | None = None
    refuses: bool = False
    ms: float = 0.0


class _Nothing:
    """There is no task and no conversation."""

    def current(self) -> TaskText | None:
        return None

    async def messages(self) -> Sequence[Message]:
        return ()


class NotHeard(Exception):
    """No function of the contract is called at this event; the message names those that are."""


async def fire_component(
    path: Path, event: Event, runtime: WasmRuntime, *, grant: Grant | None = None, workspace: Path | None = None
) -> Fired:
    """Ask the hook at `path` (a component, a package, or a project's folder) about `event`, at the function that the contract calls for it.

    It has what `grant` gives it, below `workspace`; without that an empty folder that is gone afterwards. No model can be asked, and there
    is neither a task nor a conversation. Raises `StagingFailed`, `NotHeard`.
    """
    point = next((point for point in POINTS.values() if type(event) in (point.observed, point.asked)), None)
    if point is None:
        heard = ", ".join(binding.value for binding in POINTS)
        raise NotHeard(f"no function of a component is called at {type(event).__name__}; there are {heard}")
    artifact = _artifact(path)
    entry = HookEntry(_name(path, artifact.manifest), grant=grant or Grant())
    (staged,) = await stage_hooks([(entry, artifact)], runtime)
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty) if workspace is None else workspace
        launch = Launch(FACTS, folder, folder, Path(empty))
        nothing = _Nothing()
        services = MurmurServices(None, nothing, nothing, counter())
        hook = RunningHook(staged, runtime, launch, services, at_stage=point.binding is Binding.STAGE)
        try:
            await hook.open()
            return await _ask(hook, staged, point.binding, point.record(event, FACTS), decides=type(event) is point.asked)
        finally:
            await hook.close()


async def _ask(hook: RunningHook, staged: StagedHook, binding: Binding, record: dict[str, Any], *, decides: bool) -> Fired:
    policy = decides and staged.manifest.is_policy and binding in GATEABLE
    began = time.perf_counter()
    try:
        answer = await hook.call(binding, record)
    except CallFailed as failed:
        return Fired(staged.manifest.name, binding, None, error=str(failed), refuses=policy, ms=_since(began))
    if isinstance(answer, Err):
        return Fired(staged.manifest.name, binding, None, error=answer.value, refuses=policy, ms=_since(began))
    arm, value = answer.value.case, answer.value.value
    return Fired(staged.manifest.name, binding, arm, value, refuses=policy and arm != "none", ms=_since(began))


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _name(path: Path, manifest: bytes) -> str:
    """What it calls itself, else what its file is called."""
    try:
        content = parse_yaml(manifest)
    except YamlInvalid:
        content = None
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) and name else path.resolve().stem


def _artifact(path: Path) -> Artifact:
    """A bare component is a package without a manifest, or with the one beside it."""
    if path.suffix != ".wasm":
        return read_artifact(path, path.resolve().name, "")
    beside = path.parent / MANIFEST
    manifest = beside.read_bytes() if beside.is_file() else b"runtime: hook\n"
    return Artifact(path.stem, "", path, manifest, path.name, path.read_bytes())
