"""What the rows about notes share: a kiln of ten thousand notes, made once."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.support.notes import write_notes
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns
from treblehook.kiln.semantic import open_embedder
from treblehook.lifecycle.daemon_events import DaemonEvent

COUNT = 10_000
NAME = "notes"


@cache
def folder() -> Path:
    """A folder that is removed at the end, with the kiln in `notes`."""
    made = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    write_notes(made / NAME, COUNT)
    return made


def kilns(store: Path, *, root: Path | None = None, hearer: Hearer | None = None) -> Kilns:
    """The kiln with its index in `store`, not opened."""
    return Kilns({NAME: root or folder() / NAME}, store, hearer or Hearer(unheard), open_embedder)


def unheard(event: DaemonEvent) -> None:
    """Nobody listens."""
