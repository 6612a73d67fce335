"""Where a home's extensions come from, and the order in which they are activated, which is the order of their hooks (vera.md 5.2)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.extension_entries import ExtensionEntry
from treblehook.contracts.vera.extensions.manifest import FILE, read_manifest
from treblehook.contracts.vera.json_text import shown
from treblehook.host.problems import ConfigInvalid, Problem

VARIABLE: Final = "VERA_EXTENSIONS"
"""Comma-separated folders; where it is set, it stands for the list in config.json."""

COMMAND_HOOKS: Final = "vera.command-hooks"
INCLUDED: Final = {COMMAND_HOOKS: str(Path(__file__).parent / "included" / "command-hooks")}
"""The extensions that come with Treblehook: id and folder."""


class Source(Struct, frozen=True):
    """One extension that is to be loaded: its folder, and what it is configured with. `file` and `place` say who named it."""

    folder: str
    file: str
    place: str = ""
    config: Any = {}

    @property
    def is_included(self) -> bool:
        """Whether this is the folder of an extension that comes with Treblehook."""
        return os.path.realpath(self.folder) in map(os.path.realpath, INCLUDED.values())


def find_sources(config: VeraConfig, home: Path, environ: Mapping[str, str]) -> list[Source]:
    """The extensions of `home` in the order of their activation: included, discovered, configured.

    An entry replaces the included copy whose folder or id it has, even where it is not enabled. An entry for a folder that
    would be discovered anyway is that extension, with a configuration. Raises ConfigInvalid for a `VERA_EXTENSIONS` that is wrong.
    """
    entries = _entries(config, environ)
    named = {os.path.realpath(entry.path) for entry in entries}
    wanted = {id: folder for id, folder in INCLUDED.items() if id not in config.disabled_included}
    included = [Source(folder, folder) for id, folder in wanted.items() if not _replaced(id, folder, entries)]
    discovered = [Source(folder, folder) for folder in folders(home) if has_manifest(folder) and os.path.realpath(folder) not in named]
    file = VARIABLE if environ.get(VARIABLE) else config.file
    configured = [Source(entry.path, file, entry.place, entry.config) for entry in entries if entry.enabled]
    return [*included, *discovered, *configured]


def folders(home: Path) -> Iterator[str]:
    """The folders in `<home>/extensions`, by name; links are not followed."""
    try:
        with os.scandir(home / "extensions") as found:
            names = sorted(child.name for child in found if child.is_dir(follow_symlinks=False))
    except OSError:
        return
    yield from (str(home / "extensions" / name) for name in names)


def has_manifest(folder: str) -> bool:
    """Whether a folder is meant to be an extension."""
    return os.path.lexists(os.path.join(folder, FILE))


def _entries(config: VeraConfig, environ: Mapping[str, str]) -> tuple[ExtensionEntry, ...]:
    listed = environ.get(VARIABLE, "")
    if not listed.strip():
        return config.extensions
    paths = [path.strip() for path in listed.split(",") if path.strip()]
    for path in paths:
        if not os.path.isabs(path):
            raise ConfigInvalid([Problem(VARIABLE, "", f"found {shown(path)}; it must be an absolute path of a folder")])
    return tuple(ExtensionEntry("", path, True, {}) for path in paths)


def _replaced(id: str, folder: str, entries: tuple[ExtensionEntry, ...]) -> bool:
    return any(os.path.realpath(entry.path) == os.path.realpath(folder) or _id_of(entry.path) == id for entry in entries)


def _id_of(folder: str) -> str | None:
    try:
        return read_manifest(folder).id
    except ConfigInvalid:
        # What is wrong with it is told when it is loaded.
        return None
