"""What a test of missing rights needs where it is run by root, whom no rights hold back."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A new folder that every user can enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def give_away(path: Path) -> None:
    """Make `path` the unprivileged user's, so that its mode holds for that user."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
