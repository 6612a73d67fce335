"""The unix socket over which the clients of outside agents come: only this user can connect."""

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from treblehook.host.private import make_private_folder
from treblehook.host.problems import ConfigInvalid, Problem

_BACKLOG = 4096


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """A socket at `path`, mode 0600, for as long as it is entered. The caller holds the home's lock, so one that is there is stale.

    It takes its place in one step: a client finds the old one, or one that listens. Raises `ConfigInvalid`.
    """
    draft = path.with_name(f".{secrets.token_hex(3)}")
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            _check_folder(path.parent)
            bound.setblocking(False)
            bound.bind(os.fspath(draft))
            os.chmod(draft, 0o600)
            bound.listen(_BACKLOG)
            mark = _mark(draft)
            os.rename(draft, path)
        except OSError as error:
            with suppress(FileNotFoundError):
                draft.unlink()
            remedy = "remove what is in its place, or choose another --home"
            raise ConfigInvalid([Problem(str(path), "", f"it cannot be listened on: {error.strerror or error}", remedy)]) from error
        try:
            yield bound
        finally:
            with suppress(FileNotFoundError):
                # Whoever has put another one there keeps it.
                if _mark(path) == mark:
                    path.unlink()
    finally:
        bound.close()


def _check_folder(folder: Path) -> None:
    """A folder of this user's. Raises `OSError`."""
    make_private_folder(folder)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(0, f"{folder} belongs to somebody else")


def _mark(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino
