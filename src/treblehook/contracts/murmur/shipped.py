"""The hooks that come along: each is a folder with its manifest, its source and its component, which is an artifact as it is."""

from pathlib import Path
from typing import Final

from treblehook.contracts.murmur.artifact import MANIFEST

FOLDER: Final = Path(__file__).parent / "shipped_hooks"


def shipped_hooks() -> dict[str, Path]:
    """Their folders, by their names."""
    return {file.parent.name: file.parent for file in sorted(FOLDER.glob(f"*/{MANIFEST}"))}
