"""Whether the Lua of a workspace runs: only as the very bytes that were trusted (design, section 5)."""

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from treblehook.home.trust.snapshot import FOLDER, Untrustable, WorkspaceLua, read_workspace
from treblehook.home.trust.store import Trusted, TrustStore
from treblehook.host.problems import ConfigInvalid, Problem


class HeldBack(Struct, frozen=True):
    """Lua of a workspace that does not run, and why. `problem` is what is said of it on every start."""

    folder: Path
    why: str
    problem: Problem


def trusted_workspace(home: Path, workspace: Path, *, trust_now: bool) -> WorkspaceLua | HeldBack | None:
    """The Lua of `workspace` where its content is trusted; None where it has none.

    `trust_now` trusts what is there now (`--trust`). What cannot be told from `<home>/trust.json` is not trusted.
    """
    folder = workspace / FOLDER
    try:
        found = read_workspace(workspace)
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
        why = _why(store, workspace)
    except ConfigInvalid as invalid:
        return HeldBack(folder, str(invalid), invalid.problems[0])
    command = shlex.join(["treblehook", "trust", str(workspace), "--home", str(home)])
    remedy = f"look at it, then trust it as it is now: {command}"
    return HeldBack(folder, why, Problem(str(folder), "", f"held back, it does not run: {why}", remedy, "warning"))


def trust(store: TrustStore, found: WorkspaceLua, workspace: Path, at: datetime) -> None:
    """Trust these bytes. Raises `ConfigInvalid` where that cannot be kept."""
    files = {readable(name): digest for name, digest in found.hashes.items()}
    store.add(Trusted(found.digest, readable(workspace), at.isoformat(timespec="seconds"), files))


def readable(path: Path | str) -> str:
    """A path as text that every file and every terminal takes: bytes that are not UTF-8 are written out."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _why(store: TrustStore, workspace: Path) -> str:
    last = store.last(readable(workspace))
    return "it has not been trusted yet" if last is None else f"it has changed since it was trusted on {last.at[:10]}"
