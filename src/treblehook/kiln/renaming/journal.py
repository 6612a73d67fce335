"""That a note is being renamed, on disk: a process that is killed in the middle leaves a word for the next one."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct


class Begun(Struct, frozen=True):
    """A renaming that was begun: the note `source` goes to `destination`; `digest` is that of its content before, in hexadecimal."""

    source: str
    destination: str
    digest: str


class Journal:
    """The word about a renaming in the kiln whose index is the file `index`. Whoever writes or reads it has the transaction of the
    index that writes, so there is never more than one."""

    def __init__(self, index: Path) -> None:
        self._file = index.with_suffix(".renaming")
        self._mine: Begun | None = None

    def begin(self, begun: Begun) -> None:
        """Write it down. Raises `OSError`."""
        draft = self._file.with_name(f".{self._file.name}-{secrets.token_hex(8)}")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as writing:
                writing.write(msgspec.json.encode(begun))
                writing.flush()
                os.fsync(writing.fileno())
            os.rename(draft, self._file)
            self._mine = begun
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def unfinished(self) -> Begun | None:
        """The renaming that nobody has finished."""
        self._mine = self._read()
        return self._mine

    def end(self) -> None:
        """The renaming that was begun, or found, is over."""
        if self._mine is not None and self._read() == self._mine:
            # Where it cannot be removed, it is found to be finished the next time.
            with suppress(OSError):
                self._file.unlink(missing_ok=True)

    def _read(self) -> Begun | None:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Begun)
        except (OSError, msgspec.DecodeError):
            # There is none, or the word was lost, and then there is nothing to go by.
            return None
