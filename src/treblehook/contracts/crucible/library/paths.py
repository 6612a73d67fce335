"""`cru.paths`: the folders that a plugin may want. One that this host or session does not have raises (crucible.md 10.2)."""

import os
from pathlib import Path

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import PATH, WORD
from treblehook.contracts.crucible.library.library import Library, missing
from treblehook.host.private import make_private_folder


def install(library: Library) -> None:
    library.lua.provide("cru.paths.state", lambda *given: _state(library, given))
    library.lua.provide("cru.paths.kiln", lambda *given: _kiln(library, given))
    library.lua.provide("cru.paths.workspace", lambda *given: _workspace(library, given))
    library.lua.provide("cru.paths.session", lambda *given: _session(library, given))
    library.lua.provide("cru.paths.join", _join)


def _state(library: Library, given: tuple[object, ...]) -> str:
    """The folder of a plugin's own files, made where it is missing; that of the plugin that calls unless another one is named."""
    call = Arguments("cru.paths.state", given)
    plugin = call.may_take("plugin", WORD, library.caller.owner or library.caller.hook or "init.lua")
    if plugin in (".", "..") or "/" in plugin or "\0" in plugin:
        call.refuse(f"argument 1 (plugin) is '{plugin}'; allowed: the name of a plugin, without '/'")
    if library.services.state is None:
        missing(call.function, "this host has no folder for state")
    folder = library.services.state / plugin
    try:
        make_private_folder(folder)
    except OSError as error:
        call.refuse(f"{folder}: {error.strerror}")
    return str(folder)


def _kiln(library: Library, given: tuple[object, ...]) -> str:
    """The folder of a kiln; without a name the only one."""
    call = Arguments("cru.paths.kiln", given)
    kilns = library.services.kilns
    name = call.may_take("kiln", WORD, next(iter(kilns)) if len(kilns) == 1 else None)
    if name is None:
        missing(call.function, f"say which kiln: {', '.join(kilns)}" if kilns else "no kiln is configured ([kilns] in config.toml)")
    if name not in kilns:
        missing(call.function, f"no kiln is called '{name}'; configured: {', '.join(kilns) or 'none'}")
    return str(kilns[name])


def _workspace(library: Library, given: tuple[object, ...]) -> str:
    """The workspace of a session; of the one that the call belongs to unless another one is named."""
    session = _session_of(library, Arguments("cru.paths.workspace", given))
    return _there("cru.paths.workspace", library.services.workspace(session), f"session {session} has no workspace")


def _session(library: Library, given: tuple[object, ...]) -> str:
    """The working folder of a session, as `workspace` chooses it."""
    session = _session_of(library, Arguments("cru.paths.session", given))
    return _there("cru.paths.session", library.services.session_folder(session), f"session {session} has no folder")


def _session_of(library: Library, call: Arguments) -> str:
    session = call.may_take("session", WORD, library.caller.session)
    if session is None:
        missing(call.function, "this call belongs to no session; name one")
    return session


def _there(function: str, folder: Path | None, otherwise: str) -> str:
    if folder is None:
        missing(function, otherwise)
    return str(folder)


def _join(*given: object) -> str:
    """What stands before an absolute part is dropped."""
    call = Arguments("cru.paths.join", given)
    return os.path.join(*(call.take("part", PATH) for _ in given or (None,)))
