"""`<home>/gateway/installed.json`: which agents the gateway was installed for, and what that changed."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from treblehook.gateway.install.entries import Form
from treblehook.host.private import make_private_folder
from treblehook.host.problems import ConfigInvalid, Problem

_NAME: Final = "installed.json"
_LOCK: Final = "installed.json.lock"


class Installed(Struct, frozen=True, omit_defaults=True):
    """One installation: `file` was changed. `forms` is by event; `before` is what was in the place of the containers that were made or
    filled; `mode` are the file's mode bits, where they were changed; `folders` were made for it, outermost first."""

    agent: str
    file: str
    forms: dict[str, Form] = {}
    before: dict[str, str | None] = {}
    mode: int | None = None
    folders: tuple[str, ...] = ()


class Record:
    """Every installation of one home. Several processes may write at once."""

    def __init__(self, home: Path) -> None:
        self._file = home / "gateway" / _NAME

    def entries(self) -> list[Installed]:
        """All of them, in the order in which they were made. Raises `ConfigInvalid` where the file cannot be read."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[Installed])
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._invalid(f"it cannot be read: {error.strerror}") from error
        except msgspec.MsgspecError as error:
            remedy = "remove the file; what is installed is found again by `treblehook install AGENT`"
            raise self._invalid(f"found no list of installations: {error}", remedy) from error

    def find(self, agent: str, file: Path) -> Installed | None:
        """The installation in a file."""
        return next((one for one in self.entries() if (one.agent, one.file) == (agent, str(file))), None)

    def files(self, agent: str) -> list[Path]:
        """The files into which an agent's entries were put."""
        return [Path(one.file) for one in self.entries() if one.agent == agent]

    def keep(self, installed: Installed) -> None:
        """Remember an installation in the place of an earlier one in that file. Raises `ConfigInvalid`."""
        with self._changing() as entries:
            at = next((at for at, one in enumerate(entries) if (one.agent, one.file) == (installed.agent, installed.file)), len(entries))
            entries[at : at + 1] = [installed]

    def forget(self, agent: str, file: Path) -> None:
        """Forget what was installed in a file. Raises `ConfigInvalid`."""
        if self.find(agent, file) is not None:
            with self._changing() as entries:
                entries[:] = [one for one in entries if (one.agent, one.file) != (agent, str(file))]

    @contextmanager
    def _changing(self) -> Iterator[list[Installed]]:
        """The entries, which are written as they are left; nobody else writes meanwhile."""
        try:
            make_private_folder(self._file.parent)
            with open(self._file.with_name(_LOCK), "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                entries = self.entries()
                yield entries
                self._write(entries)
        except OSError as error:
            raise self._invalid(f"it cannot be written: {error.strerror}") from error

    def _write(self, entries: list[Installed]) -> None:
        if not entries:
            self._file.unlink(missing_ok=True)
            return
        draft = self._file.with_name(f".{_NAME}-{secrets.token_hex(8)}")
        try:
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(entries)) + b"\n")
            os.replace(draft, self._file)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _invalid(self, message: str, remedy: str = "") -> ConfigInvalid:
        return ConfigInvalid([Problem(str(self._file), "", message, remedy)])
