"""Projects of hooks for tests, built once for what is in them."""

import hashlib
import os
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tests.support.guests import KEPT, ROOT
from treblehook.contracts.murmur.authoring.building import build

AUTHORING: Final = ROOT / "src" / "treblehook" / "contracts" / "murmur" / "authoring"


def project(folder: Path, source: str, *, file: str = "hook.py", **manifest: str) -> Path:
    """Write a project; the manifest has a name and a version where the test gives none."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(source)
    keys = {"name": "lookout", "version": '"1.0.0"', "runtime": "hook", **manifest}
    (folder / "murmur.yaml").write_text("".join(f"{key}: {value}\n" for key, value in keys.items()))
    return folder


def built(folder: Path) -> Path:
    """The folder with its component, which is kept between runs."""
    content = hashlib.sha256(version("componentize-py").encode())
    base = [path for path in AUTHORING.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for file in [*sorted(folder.iterdir()), *sorted(base)]:
        content.update(file.read_bytes())
    kept = KEPT / "projects" / content.hexdigest()[:32]
    if not kept.exists():
        new = kept.with_name(f"new-{os.getpid()}")
        shutil.copytree(folder, new)
        build(new)
        new.rename(kept)
    return kept
