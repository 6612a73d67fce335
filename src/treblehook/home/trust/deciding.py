"""Whether the code of a workspace runs: only as the very bytes that were trusted (design, section 5)."""

import os
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from treblehook.home.trust.settings import SETTINGS_FOLDER, WorkspaceSettings, read_settings
from treblehook.home.trust.snapshot import FOLDER, Snapshot, Untrustable, WorkspaceLua, read_workspace
from treblehook.home.trust.store import Trusted, TrustStore
from treblehook.host.problems import ConfigInvalid, Problem

S = TypeVar("S", bound=Snapshot)


class HeldBack(Struct, frozen=True):
    """Code of a workspace that does not run, and why. `problem` is what is said of it on every start, `found` what it is, None where it
    could not be read."""

    folder: Path
    why: str
    problem: Problem
    found: Snapshot | None = None


def trusted_workspace(home: Path, workspace: Path, *, trust_now: bool) -> WorkspaceLua | HeldBack | None:
    """The Lua of `workspace` where its content is trusted; None where it has none.

    `trust_now` trusts what is there now (`--trust`). What cannot be told from `<home>/trust.json` is not trusted.
    """
    return _decided(home, workspace, workspace / FOLDER, read_workspace, trust_now=trust_now)


def trusted_settings(home: Path, workspace: Path, *, trust_now: bool) -> WorkspaceSettings | HeldBack | None:
    """The same for the hooks in Claude Code's settings files of `workspace`."""
    return _decided(home, workspace, workspace / SETTINGS_FOLDER, read_settings, trust_now=trust_now)


def _decided(home: Path, workspace: Path, folder: Path, read: Callable[[Path], S | None], *, trust_now: bool) -> S | HeldBack | None:
    try:
        found = read(workspace)
    except Untrustable as untrustable:
        remedy = "while that is so it cannot be trusted, and does not run"
        return HeldBack(folder, str(untrustable), Problem(str(untrustable.path), "", untrustable.why, remedy, "warning"))
    if found is None:
        return None
    store = TrustStore(home)
    try:
        if trust_now:
            trust(store, found, workspace, datetime.now(UTC))
        if store.is_trusted(found.digest):
            return found
        why = _why(store, workspace, found.kind)
    except ConfigInvalid as invalid:
        return HeldBack(folder, str(invalid), invalid.problems[0], found)
    command = shlex.join(["treblehook", "trust", str(workspace), "--home", str(home)])
    remedy = f"look at it, then trust it as it is now: {command}"
    return HeldBack(folder, why, Problem(str(folder), "", f"held back, it does not run: {why}", remedy, "warning"), found)


def trust(store: TrustStore, found: Snapshot, workspace: Path, at: datetime) -> None:
    """Trust these bytes. Raises `ConfigInvalid` where that cannot be kept."""
    files = {readable(name): digest for name, digest in found.hashes.items()}
    store.add(Trusted(found.digest, readable(workspace), at.isoformat(timespec="seconds"), files, found.kind))


def readable(path: Path | str) -> str:
    """A path as text that every file and every terminal takes: bytes that are not UTF-8 are written out."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _why(store: TrustStore, workspace: Path, kind: str) -> str:
    last = store.last(readable(workspace), kind)
    return "it has not been trusted yet" if last is None else f"it has changed since it was trusted on {last.at[:10]}"
