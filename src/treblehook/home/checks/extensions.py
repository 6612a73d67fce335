"""Extensions that do not load, and what of them can never work. Only activating an extension tells whether it loads."""

import difflib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.extensions.activation import CAPABILITIES
from treblehook.contracts.vera.extensions.extensions import Extensions
from treblehook.contracts.vera.extensions.manifest import FILE, Manifest, read_manifest
from treblehook.contracts.vera.extensions.reporting import Reports
from treblehook.contracts.vera.extensions.sources import INCLUDED, find_sources, folders, has_manifest
from treblehook.host.asking import AskRefused, SideAnswer
from treblehook.host.problems import ConfigInvalid, Problem


class CheckedExtensions(Struct, frozen=True):
    """What was found, the manifests that could be read, how many hooks were registered; and the extensions that loaded, with
    what problem those that did not, and the ids of those that loaded and have no hooks."""

    problems: tuple[Problem, ...]
    manifests: tuple[Manifest, ...] = ()
    hooks: int = 0
    active: tuple[Manifest, ...] = ()
    not_loaded: tuple[tuple[str, Problem], ...] = ()
    idle: tuple[str, ...] = ()


async def check_extensions(home: Path, config: VeraConfig, environ: Mapping[str, str]) -> CheckedExtensions:
    """Activate the extensions of `home` as the first session would, and let them go again; nothing is written to the home."""
    problems: list[Problem] = [*_unknown_disabled(config), *_strays(home)]
    manifests = list(_manifests(home, config, environ))
    for manifest in manifests:
        problems += _unknown_capabilities(manifest)
    reports = Reports(problems.append)
    with tempfile.TemporaryDirectory(prefix="treblehook-check-") as logs:
        extensions = Extensions(home, Path(logs), reports, _nobody, environ)
        try:
            await extensions.load(config)
            active = extensions.active
        finally:
            await extensions.close()
    hooks = sum(len(extension.registered) for extension in active)
    loaded = tuple(extension.manifest for extension in active)
    idle = tuple(extension.manifest.id for extension in active if not extension.registered)
    return CheckedExtensions(tuple(problems), tuple(manifests), hooks, loaded, tuple(reports.not_loaded), idle)


async def _nobody(session: str, question: str, max_tokens: int) -> SideAnswer:
    raise AskRefused("no session is open")


def _manifests(home: Path, config: VeraConfig, environ: Mapping[str, str]) -> Iterator[Manifest]:
    try:
        sources = find_sources(config, home, environ)
    except ConfigInvalid:
        # Loading tells of it.
        return
    for source in sources:
        try:
            yield read_manifest(source.folder)
        except ConfigInvalid:
            continue


def _unknown_capabilities(manifest: Manifest) -> Iterator[Problem]:
    for index, name in enumerate(manifest.capabilities):
        if name not in CAPABILITIES:
            close = difflib.get_close_matches(name, CAPABILITIES, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"offered here: {', '.join(CAPABILITIES)}"
            message = f"extension {manifest.id}: {name} is not offered here"
            yield Problem(manifest.file, f"capabilities[{index}]", message, remedy, "warning")


def _unknown_disabled(config: VeraConfig) -> Iterator[Problem]:
    for index, name in enumerate(config.disabled_included):
        if name not in INCLUDED:
            message, remedy = f"no extension {name} is included", f"included: {', '.join(INCLUDED)}"
            yield Problem(config.file, f"disabled_included_extensions[{index}]", message, remedy, "warning")


def _strays(home: Path) -> Iterator[Problem]:
    """Folders where extensions are looked for that are none."""
    for folder in folders(home):
        name = Path(folder).name
        if not (has_manifest(folder) or name.startswith(".") or name == "node_modules"):
            yield Problem(folder, "", f"this folder is no extension: it has no {FILE}", "add one, or move the folder away", "warning")
