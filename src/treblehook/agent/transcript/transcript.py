"""The append-only file of one session."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from treblehook.agent.transcript.errors import TranscriptFailed
from treblehook.agent.transcript.lock import lock_session
from treblehook.agent.transcript.records import encode_record, read_records
from treblehook.host.private import make_private_folder
from treblehook.host.problems import Problem

_BLOCK = 64 * 1024


class Transcript:
    """An open session file, `<home>/sessions/ID.jsonl`, which no other process can open meanwhile.

    A record that was appended survives the death of this process at any moment: each is one write at the end of the file. It
    is not synced to the disk one by one, so a power cut may take the newest; `close` syncs. `damage` tells of lines that
    `resume` could not read.
    """

    def __init__(self, path: Path, descriptor: int, damage: tuple[Problem, ...] = ()) -> None:
        self.path = path
        self.damage = damage
        self._descriptor = descriptor
        self._open = True
        self._torn = False

    @classmethod
    def create(cls, path: Path) -> "Transcript":
        """A new file with mode 0600, its folder with 0700. Raises `TranscriptFailed`, also where the file is already there."""
        try:
            make_private_folder(path.parent)
            descriptor = _locked(path, os.O_CREAT | os.O_EXCL)
        except OSError as error:
            raise TranscriptFailed(path, _reason(error)) from error
        return cls(path, descriptor)

    @classmethod
    def resume(cls, path: Path) -> tuple["Transcript", list[dict[str, Any]]]:
        """The file of an earlier session and its records. A torn last line is cut off first.

        Raises `TranscriptFailed`, and `SessionBusy` while another process has it open.
        """
        try:
            descriptor = _locked(path, 0)
            try:
                _cut_torn_end(descriptor)
                contents = read_records(path.read_bytes(), str(path))
            except BaseException:
                os.close(descriptor)
                raise
        except OSError as error:
            raise TranscriptFailed(path, _reason(error)) from error
        return cls(path, descriptor, contents.damage), list(contents.records)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.path.stem

    def append(self, record: dict[str, Any]) -> None:
        """Add a record. Raises `TranscriptFailed`; then nothing of it is in the file, and a later one may succeed."""
        line = encode_record(record)
        if not self._open:
            raise TranscriptFailed(self.path, "it is closed")
        try:
            if self._torn:
                self._repair()
            _write(self._descriptor, line)
        except OSError as error:
            self._torn = True
            # Where the disk takes no truncation either, the next append or a resume cuts the torn line.
            with suppress(OSError):
                self._repair()
            raise TranscriptFailed(self.path, _reason(error)) from error

    def close(self) -> None:
        """Sync to the disk and let go of the file; a second time does nothing. Raises `TranscriptFailed` if the sync fails."""
        if not self._open:
            return
        self._open = False
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise TranscriptFailed(self.path, _reason(error)) from error
        finally:
            os.close(self._descriptor)

    def _repair(self) -> None:
        _cut_torn_end(self._descriptor)
        self._torn = False


def _locked(path: Path, flags: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        lock_session(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _write(descriptor: int, line: bytes) -> None:
    """One write; the rest of a short one follows only to learn why it was short."""
    written = os.write(descriptor, line)
    while written < len(line):
        written += os.write(descriptor, line[written:])


def _cut_torn_end(descriptor: int) -> None:
    """Cut off what follows the last line end. A line end inside a record would be escaped, so this is where the last whole one ends."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
