"""`cru.notify(text, {level, session})`: tell the users (crucible.md 10.2)."""

from typing import Literal

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import TEXT, WORD, choice
from treblehook.contracts.crucible.library.library import Library
from treblehook.host.reach import ReachRefused

_LEVELS: dict[str, Literal["info", "warn", "error"]] = {"info": "info", "warn": "warn", "error": "error"}


def install(library: Library) -> None:
    library.lua.provide("cru.notify", lambda *given: _notify(library, given))


def _notify(library: Library, given: tuple[object, ...]) -> None:
    """The users of the session that the call belongs to, and outside of one those of the host. A level alone may stand for the
    options. Where nobody can be told it goes to the log."""
    call = Arguments("cru.notify", [given[0], {"level": given[1]}] if len(given) > 1 and isinstance(given[1], str) else given)
    text, options = call.take("text", TEXT), call.options("level", "session")
    level = _LEVELS[options.read("level", choice(*_LEVELS), "info")]
    session = options.read("session", WORD, library.caller.session or "")
    if library.services.reach is None:
        library.log(level, text, library.caller)
        return
    try:
        library.services.reach.notify(session, text, level)
    except ReachRefused as refusal:
        call.refuse(str(refusal))
