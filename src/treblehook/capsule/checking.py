"""Everything that is wrong with a capsule, found by staging it without running anything of it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.agent.models import open_model
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.capsule.manifest.opening import Opened, open_capsule
from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.model_spec import model_spec
from treblehook.contracts.murmur.errors import ArtifactInvalid, HookConfigInvalid, HookUnusable, StagingFailed
from treblehook.contracts.murmur.staging import stage_hooks
from treblehook.home.components.entries import ArtifactEntry
from treblehook.home.components.resolve import Resolved, resolve_each
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.runtimes.wasm import Compiling, WasmRuntime
from treblehook.shell import resolve_executable


class Checked(Struct, frozen=True):
    """What was found, errors and warnings, and how many artifacts the manifest has, 0 where it could not be read."""

    problems: tuple[Problem, ...]
    artifacts: int = 0


async def check_capsule(file: Path, home: Path, environ: Mapping[str, str], progress: Callable[[str, Compiling], None]) -> Checked:
    """Read the manifest, and load every artifact. Compiled code is kept for the launch; nothing else is written."""
    try:
        opened = open_capsule(file, home / "cache" / "capsules")
    except ConfigInvalid as invalid:
        return Checked(invalid.problems)
    manifest = opened.manifest
    problems = [*opened.warnings, *_model(opened, environ), *_programs(manifest, environ)]
    places = {entry.name: entry for entry in manifest.artifacts}
    resolved, wrong = resolve_each(manifest.artifacts, home)
    problems += [_problem(manifest, failed, entry) for entry, failed in wrong]
    problems += [_problem(manifest, failed, places.get(failed.artifact)) for failed in await _staged(resolved, home, progress)]
    return Checked(tuple(problems), len(manifest.artifacts))


async def _staged(resolved: Resolved, home: Path, progress: Callable[[str, Compiling], None]) -> list[StagingFailed]:
    """What is wrong with the hooks, each looked at by itself so that all is told at once."""
    failures = []
    async with WasmRuntime(home / "cache" / "wasm") as runtime:
        for hook in resolved.hooks:
            try:
                await stage_hooks([hook], runtime, progress)
            except StagingFailed as failed:
                failures.append(failed)
    return failures


def _model(opened: Opened, environ: Mapping[str, str]) -> Iterator[Problem]:
    spec = model_spec(opened)
    file = str(opened.manifest.file)
    if spec is None:
        yield Problem(file, "inference.model", "no model is named", "name one, or pass --model SPEC", level="warning")
        return
    try:
        open_model(spec, environ=environ)
    except ModelSpecInvalid as invalid:
        yield Problem(file, "inference.model", str(invalid), "pass --model SPEC for another", level="warning")


def _programs(manifest: CapsuleManifest, environ: Mapping[str, str]) -> Iterator[Problem]:
    for index, name in enumerate(manifest.shell_allow):
        if resolve_executable(name, environ.get("PATH", ""), Path("/")) is None:
            place = f"capabilities.shell.allow[{index}]"
            yield Problem(str(manifest.file), place, f"there is no program {name} on PATH", "its calls cannot run here", level="warning")


def _problem(manifest: CapsuleManifest, failed: StagingFailed, entry: ArtifactEntry | None) -> Problem:
    """A failure at the place where the operator lists the artifact, or in the file that is at fault."""
    place = "" if entry is None else entry.place
    match failed:
        case ArtifactInvalid(file=file, problem=problem, remedy=remedy):
            return Problem(file, place, problem, remedy)
        case HookConfigInvalid(key=key):
            return Problem(str(manifest.file), place, str(failed), f"mend {key} in the hook's own murmur.yaml" if key else "")
        case HookUnusable(remedy=remedy, problem=problem):
            return Problem(str(manifest.file), place, f"hook {failed.artifact}: {problem}", remedy)
        case _:
            return Problem(str(manifest.file), place, str(failed))
