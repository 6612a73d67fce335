"""From the operator's entries to packages that have been read."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from treblehook.contracts.murmur.artifact import Artifact, read_artifact, read_tool
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.contracts.murmur.shipped import shipped_hooks
from treblehook.contracts.murmur.staging import HookEntry
from treblehook.home.components.entries import ArtifactEntry


class Resolved(Struct, frozen=True):
    """The hooks and the tools of a capsule, in the order of its list."""

    hooks: tuple[tuple[HookEntry, Artifact], ...] = ()
    tools: tuple[Artifact, ...] = ()


def resolve(entries: Iterable[ArtifactEntry], home: Path) -> Resolved:
    """Read the package of each entry that is a hook or a tool; drivers and skills are not needed. Raises `StagingFailed`."""
    hooks, tools = [], []
    for entry in entries:
        if entry.runtime == "hook":
            hooks.append(
                (HookEntry(entry.name, entry.version, entry.grant, entry.overflow), read_artifact(_path(entry, home), *_names(entry)))
            )
        elif entry.runtime == "tool":
            tools.append(read_tool(_path(entry, home), *_names(entry)))
    return Resolved(tuple(hooks), tuple(tools))


def resolve_each(entries: Iterable[ArtifactEntry], home: Path) -> tuple[Resolved, list[tuple[ArtifactEntry, StagingFailed]]]:
    """The same, with what is wrong beside what is right."""
    hooks: list[tuple[HookEntry, Artifact]] = []
    tools: list[Artifact] = []
    wrong: list[tuple[ArtifactEntry, StagingFailed]] = []
    for entry in entries:
        try:
            one = resolve([entry], home)
        except StagingFailed as failed:
            wrong.append((entry, failed))
            continue
        hooks += one.hooks
        tools += one.tools
    return Resolved(tuple(hooks), tuple(tools)), wrong


def _names(entry: ArtifactEntry) -> tuple[str, str]:
    return entry.name, entry.version


def _path(entry: ArtifactEntry, home: Path) -> Path:
    """Its own source, else what the home has of its name and version, else the hook of its name that comes along."""
    if entry.source is not None:
        return entry.source
    kept = home / "artifacts" / f"{entry.name}-{entry.version}.mur.zip"
    shipped = shipped_hooks().get(entry.name) if entry.runtime == "hook" else None
    return kept if shipped is None or kept.exists() else shipped
