"""What can go wrong with an index."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from treblehook.host.problems import Problem

_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WORDS_DAMAGED: Final = ("vtable constructor failed", "invalid fts5 file format")
"""What SQLite says where the tables behind the index of words are damaged; its code for that is that of any error."""


class IndexFailed(Exception):
    """The index cannot be used just now: its disk is full, it cannot be written, another process keeps it; nothing was changed."""

    def __init__(self, file: Path, cause: sqlite3.Error | OSError) -> None:
        self.file = file
        reason = cause.strerror if isinstance(cause, OSError) else str(cause)
        super().__init__(f"the index {file} cannot be used: {reason}")

    def problem(self, kiln: str) -> Problem:
        """It, as it is reported."""
        return Problem(str(self.file), "", f"kiln {kiln}: {self}", "see whether its disk is full, or its folder cannot be written")


class IndexDamaged(IndexFailed):
    """The file holds no sound index; it has to be made anew."""


@contextmanager
def index_errors(file: Path) -> Iterator[None]:
    """Errors of SQLite become those of the index."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        # An extended code has the plain one in its low byte.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        damaged = code in _DAMAGED or any(said in str(error) for said in _WORDS_DAMAGED)
        raise (IndexDamaged if damaged else IndexFailed)(file, error) from error
