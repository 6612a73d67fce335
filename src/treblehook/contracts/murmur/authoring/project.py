"""A folder with the source of a hook: its manifest, and the file that is built."""

import re
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.contracts.murmur.artifact import MANIFEST
from treblehook.contracts.murmur.authoring.errors import BuildFailed
from treblehook.contracts.murmur.authoring.names import NAME, NAME_RULE
from treblehook.contracts.murmur.errors import HookConfigInvalid
from treblehook.contracts.murmur.hook_manifest import HookManifest, parse_hook_manifest
from treblehook.contracts.murmur.yaml_text import parse_yaml

_RESERVED: Final = ("latest", "stable", "edge")
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}")
SOURCES: Final = {"hook.py": "python", "hook.c": "c"}


class Project(Struct, frozen=True):
    """`companions` are the files that go into the package beside the manifest and the component, relative to `folder`."""

    folder: Path
    manifest: HookManifest
    source: Path
    language: Literal["python", "c"]
    companions: tuple[str, ...] = ()

    @property
    def component(self) -> str:
        """The name of the component's file."""
        return f"{self.manifest.name}.wasm"

    @property
    def package(self) -> str:
        """The name of the package's file."""
        return f"{self.manifest.name}-{self.manifest.version}.mur.zip"


def read_project(folder: Path) -> Project:
    """Raises `BuildFailed`: what its author has to mend, before anything is built."""
    file = folder / MANIFEST
    try:
        text = file.read_bytes()
    except OSError as error:
        raise BuildFailed(
            file, "", f"it cannot be read: {error.strerror}", "make a project with treblehook hooks new --wasm NAME"
        ) from error
    try:
        manifest = parse_hook_manifest(text, folder.name, "")
    except HookConfigInvalid as invalid:
        raise BuildFailed(file, invalid.key, invalid.detail, "mend the manifest") from invalid
    content = parse_yaml(text)
    name = _matching(file, content, "name", NAME, NAME_RULE)
    version = _matching(file, content, "version", _VERSION, "letters, digits and . + _ -")
    if version in _RESERVED:
        raise BuildFailed(file, "version", f"found {version!r}, which is reserved", "name a number, as 1.0.0")
    named = HookManifest(name, version, manifest.binding, manifest.mode, manifest.policy, manifest.description)
    found = [source for source in SOURCES if (folder / source).is_file()]
    if len(found) != 1:
        problem = f"there is {' and '.join(found)}" if found else f"there is no {' or '.join(SOURCES)}"
        raise BuildFailed(folder, "", problem, "have one of them")
    language: Literal["python", "c"] = "python" if found[0] == "hook.py" else "c"
    return Project(folder, named, folder / found[0], language, _companions(folder, file, content, f"{name}.wasm"))


def _matching(file: Path, content: dict[str, Any], key: str, rule: re.Pattern[str], allowed: str) -> str:
    value = content.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise BuildFailed(file, key, f"found {value!r}, which YAML reads as a number", f'write it in quotes: "{value}"')
    if not isinstance(value, str) or not rule.fullmatch(value):
        raise BuildFailed(file, key, f"found {value!r}" if key in content else "it is missing", f"allowed: {allowed}")
    return value


def _companions(folder: Path, file: Path, content: dict[str, Any], component: str) -> tuple[str, ...]:
    listed = content.get("requires_files", [])
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BuildFailed(file, "requires_files", f"found {listed!r}", "allowed: a list of file names")
    others = [each for each in listed if each not in (component, MANIFEST)]
    for index, each in enumerate(others):
        path = (folder / each).resolve()
        place = f"requires_files[{index}]"
        if not path.is_relative_to(folder.resolve()):
            raise BuildFailed(file, place, f"{each!r} leads out of the project", "name files of the project")
        if not path.is_file():
            raise BuildFailed(file, place, f"there is no file {each!r}", "take it out, or make it")
    return tuple(others)
