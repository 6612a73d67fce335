"""Which model a capsule asks for."""

from pathlib import Path
from typing import Final

from treblehook.capsule.manifest.opening import Opened

_SCRIPT: Final = "script:"


def model_spec(opened: Opened) -> str | None:
    """The SPEC in the manifest; a script is looked for from there, as every file that it names."""
    spec = opened.manifest.inference.model
    if spec is None or not spec.startswith(_SCRIPT):
        return spec
    return _SCRIPT + str(opened.folder / Path(spec.removeprefix(_SCRIPT)).expanduser())
