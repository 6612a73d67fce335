"""`<home>/trust.json`: the content that a user has trusted."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from treblehook.home.place import make_home_folder
from treblehook.host.problems import ConfigInvalid, Problem

_FILE: Final = "trust.json"
_LOCK: Final = "trust.json.lock"
_VERSION: Final = 1


class Trusted(Struct, frozen=True):
    """Content that was trusted: its digest, where it lay then, when (ISO time), the SHA-256 of each of its files, and what kind of code
    it is."""

    digest: str
    workspace: str
    at: str
    files: dict[str, str]
    kind: str = "lua"


class _Stored(Struct, frozen=True):
    version: int
    trusted: list[Trusted]


class TrustStore:
    """What is trusted in a home. Several processes may write at once; each change is whole or not there at all."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.file = home / _FILE

    def entries(self) -> list[Trusted]:
        """What is trusted, the oldest first. Raises `ConfigInvalid` where that cannot be told."""
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._invalid(f"cannot be read: {error.strerror}") from error
        try:
            self._check(os.fstat(descriptor))
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read()
        finally:
            os.close(descriptor)
        try:
            stored = msgspec.json.decode(content, type=_Stored)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._invalid(f"is damaged: {error}") from error
        if stored.version != _VERSION:
            raise self._invalid(f"is of version {stored.version}, known is {_VERSION}")
        return stored.trusted

    def is_trusted(self, digest: str) -> bool:
        """Whether content of this digest is trusted. Raises `ConfigInvalid` where that cannot be told."""
        return any(entry.digest == digest for entry in self.entries())

    def last(self, workspace: str, kind: str) -> Trusted | None:
        """What was trusted last of this kind in this workspace."""
        found = (entry for entry in reversed(self.entries()) if (entry.workspace, entry.kind) == (workspace, kind))
        return next(found, None)

    def add(self, trusted: Trusted) -> None:
        """Trust this content. Raises `ConfigInvalid` where it cannot be kept."""
        with self._changing() as entries:
            entries[:] = [entry for entry in entries if (entry.digest, entry.workspace) != (trusted.digest, trusted.workspace)]
            entries.append(trusted)

    def revoke(self, workspace: str, digests: Collection[str]) -> int:
        """Trust no content of these digests any more, and nothing that was trusted in this workspace; how many entries that were."""
        with self._changing() as entries:
            kept = [entry for entry in entries if entry.digest not in digests and entry.workspace != workspace]
            gone = len(entries) - len(kept)
            entries[:] = kept
        return gone

    @contextmanager
    def _changing(self) -> Iterator[list[Trusted]]:
        """The entries to be changed in place; written back at the end, while nobody else can."""
        make_home_folder(self._home)
        try:
            lock = os.open(self._home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._invalid(f"cannot be locked: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self.entries()
            before = list(entries)
            yield entries
            if entries != before:
                self._write(entries)
        except OSError as error:
            raise self._invalid(f"cannot be written: {error.strerror}") from error
        finally:
            os.close(lock)

    def _write(self, entries: list[Trusted]) -> None:
        content = msgspec.json.format(msgspec.json.encode(_Stored(_VERSION, entries)), indent=1)
        descriptor, name = tempfile.mkstemp(prefix=f".{_FILE}.", dir=self._home)
        try:
            with open(descriptor, "wb") as file:
                file.write(content + b"\n")
                file.flush()
                os.fsync(descriptor)
            os.replace(name, self.file)
        except BaseException:
            os.unlink(name)
            raise

    def _check(self, found: os.stat_result) -> None:
        """Whoever else may write the file could trust in this user's name."""
        if not stat.S_ISREG(found.st_mode):
            raise self._invalid("is no regular file")
        if found.st_uid not in (os.geteuid(), 0):
            raise self._invalid("belongs to another user")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._invalid("others may write it", f"chmod 600 {self.file}")

    def _invalid(self, problem: str, remedy: str = "delete it, and trust your workspaces anew") -> ConfigInvalid:
        return ConfigInvalid([Problem(str(self.file), "", problem, remedy)])
