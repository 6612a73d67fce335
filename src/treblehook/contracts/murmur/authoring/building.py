"""From a project to its component and its package."""

import io
import os
import zipfile
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.contracts.murmur.artifact import MANIFEST
from treblehook.contracts.murmur.authoring.c_source import build_c
from treblehook.contracts.murmur.authoring.errors import BuildFailed
from treblehook.contracts.murmur.authoring.project import Project, read_project
from treblehook.contracts.murmur.authoring.python_source import build_python

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every entry, so that the same project makes the same package."""


class Built(Struct, frozen=True):
    """The files that were written, and the size of the component."""

    component: Path
    package: Path
    bytes: int


def build_component(project: Project) -> bytes:
    """The component of a project, by the compiler of its language. Raises `BuildFailed`."""
    return build_python(project) if project.language == "python" else build_c(project)


def build(folder: Path) -> Built:
    """Build the project in `folder`: NAME.wasm and NAME-VERSION.mur.zip in it, each written whole or not at all. Raises `BuildFailed`."""
    project = read_project(folder)
    payload = build_component(project)
    component, package = folder / project.component, folder / project.package
    _write(component, payload)
    _write(package, _packed(project, payload))
    return Built(component, package, len(payload))


def _packed(project: Project, payload: bytes) -> bytes:
    """The manifest and the component at the root, and the companions (murmur.md 2.1)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = {MANIFEST: (project.folder / MANIFEST).read_bytes(), project.component: payload}
        contents |= {name: (project.folder / name).read_bytes() for name in project.companions}
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(content)
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BuildFailed(path, "", f"it cannot be written: {error.strerror}", "see to the folder's permissions") from error
