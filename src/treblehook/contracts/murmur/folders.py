"""The folders that a hook is granted (murmur.md 7)."""

import stat
from pathlib import Path

from treblehook.contracts.murmur.errors import HookUnusable
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.hook_manifest import HookManifest
from treblehook.contracts.murmur.launch import Launch
from treblehook.runtimes.wasm import Folder


def granted_folders(hook: HookManifest, grant: Grant, launch: Launch, *, at_stage: bool) -> list[Folder]:
    """What the instance of `hook` finds preopened: `.`, its scope, and `state`, its durable store; they are made where they are not there.

    Raises `HookUnusable`.
    """
    folders = []
    if grant.scope is not None:
        root = launch.session_workdir if at_stage else launch.accessible_workdir
        folders.append(Folder(_scope(hook, grant.scope, root), ".", writable=True))
    if grant.state is not None:
        folders.append(Folder(_store(hook, grant.state or launch.facts.capsule_name, launch.state), "state", writable=True))
    return folders


def _scope(hook: HookManifest, scope: str, root: Path) -> Path:
    place, key = root / scope, f"filesystem.scope: {scope}"
    try:
        # Asked first: nothing is made behind a link that leads out.
        inside = place.resolve().is_relative_to(root.resolve())
        if inside:
            place.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise HookUnusable(
            hook.name, hook.version, f"{key}: {place} is no folder and cannot be made one: {why}", "name another scope"
        ) from error
    if not inside:
        # A link that was left in the workdir must not widen the grant.
        raise HookUnusable(hook.name, hook.version, f"{key}: {place} leads out of {root}", "remove the link, or name another scope")
    return place


def _store(hook: HookManifest, name: str, stores: Path) -> Path:
    place = stores / name
    if place.parent != stores or name in ("", ".", ".."):
        raise HookUnusable(hook.name, hook.version, f"state.store: {name!r} is no name of a folder", "name one: store: notes")
    try:
        stores.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.mkdir(exist_ok=True, mode=0o700)
        if stat.S_IMODE(place.stat().st_mode) != 0o700:
            place.chmod(0o700)
    except OSError as error:
        raise HookUnusable(
            hook.name, hook.version, f"state.store: {place} is no folder and cannot be made one: {error.strerror}", "name another store"
        ) from error
    return place
