"""Folders that only their owner may enter."""

from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make `folder` and every missing folder above it, each with mode 0700; folders that exist stay as they are.

    Raises `OSError` where it cannot be made, or is no folder.
    """
    if not folder.parent.exists():
        make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
