"""`tools/<name>/murmur.yaml`: what the model reads of each tool, by the runtime first and by on-stage hooks then (murmur.md 6.4)."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treblehook.capsule.trace.faults import Faults
from treblehook.capsule.workdir import write_private
from treblehook.contracts.murmur.artifact import MANIFEST
from treblehook.contracts.murmur.yaml_text import YamlInvalid, parse_yaml
from treblehook.home.components.resolve import Resolved
from treblehook.host.private import make_private_folder
from treblehook.lifecycle import ToolManifest

_LONGEST_NAME = 200


def write_own(folder: Path, resolved: Resolved, shell_allow: Iterable[str]) -> None:
    """Write the manifests of the artifacts, with the executables of tools, and a generic one for each shell tool. Raises `OSError`."""
    for _, artifact in resolved.hooks:
        _put(folder / artifact.name, artifact.manifest)
    for artifact in resolved.tools:
        _put(folder / artifact.name, artifact.manifest)
        write_private(folder / artifact.name / artifact.name, artifact.payload, mode=0o700)
    native = {artifact.name for artifact in resolved.tools}
    for name in shell_allow:
        if name not in native:
            _put(folder / name, generic(name).encode())


def generic(name: str) -> str:
    """The manifest of a shell tool of which nothing more is known."""
    about = f"Runs the program {_plain(name)} in the workdir with the arguments in `command`."
    return f'name: {_quoted(name)}\nruntime: shell\ndescription: "{about}"\n'


def _quoted(name: str) -> str:
    return f'"{_plain(name)}"'


def _plain(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def write_of_hook(folder: Path, hook: str, manifests: Iterable[ToolManifest], faults: Faults) -> None:
    """Write what an on-stage hook has made; what cannot be written is a line in its log, and the next one is."""
    for manifest in manifests:
        problem = _problem(manifest.binary)
        if not problem:
            try:
                _put(folder / manifest.binary, manifest.content.encode("utf-8", "replace"))
            except OSError as error:
                problem = error.strerror or str(error)
        if problem:
            faults.log(hook, f"hook '{hook}' on-stage: the manifest for {manifest.binary!r} was not written: {problem}")


def _problem(name: str) -> str:
    """Why `name` is no folder of its own below `tools/`, "" where it is."""
    if name in ("", ".", "..") or "/" in name or "\0" in name or len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
        return "it is not a single plain name"
    return ""


def _put(folder: Path, content: bytes) -> None:
    make_private_folder(folder)
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise NotADirectoryError(f"{folder} is no folder")
    write_private(folder / MANIFEST, content)


def read_texts(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The manifests as they are now, by tool. Raises `OSError`."""
    return {name: (folder / name / MANIFEST).read_text("utf-8", "replace") for name in names}


def described(text: str, otherwise: str) -> str:
    """The description in a manifest; a manifest without one is its own."""
    content = parsed(text)
    description = content.get("description")
    return description if isinstance(description, str) and description.strip() else text.strip() or otherwise


def parsed(text: str) -> dict[str, Any]:
    """A manifest's content, nothing where it is no table."""
    try:
        content = parse_yaml(text)
    except YamlInvalid:
        return {}
    return content if isinstance(content, dict) else {}
