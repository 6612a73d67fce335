"""`cru.require_isolation{tools, reason, session}`: these tools run only where a hook has replaced the call (crucible.md 10.2).

It holds for the session that the call belongs to; said while a plugin is loaded, for every session.
"""

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import TEXT, WORD, list_of
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.reached import reach_of
from treblehook.host.reach import ReachRefused


def install(library: Library) -> None:
    library.lua.provide("cru.require_isolation", lambda *given: _require(library, given))


def _require(library: Library, given: tuple[object, ...]) -> None:
    call = Arguments("cru.require_isolation", given)
    options = call.options("tools", "reason", "session", required=True)
    tools = options.read("tools", list_of(WORD), [])
    if not tools:
        call.refuse("the option `tools` names no tool; allowed: a list of names, as {tools = {'bash'}}")
    reason = options.read("reason", TEXT, "")
    session = options.read("session", WORD, library.caller.session or "")
    try:
        reach_of(library, call).require_isolation(library.owner, tools, reason, session)
    except ReachRefused as refusal:
        call.refuse(str(refusal))
