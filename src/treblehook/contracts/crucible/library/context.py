"""`cru.context.attach(text, {key, session})`: text for the session's next context, 2,000 characters in all (crucible.md 10.2)."""

from itertools import count

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import TEXT, WORD
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.reached import reach_of
from treblehook.host.reach import ReachRefused


def install(library: Library) -> None:
    unnamed = count(1)
    library.lua.provide("cru.context.attach", lambda *given: _attach(library, unnamed, given))


def _attach(library: Library, unnamed: "count[int]", given: tuple[object, ...]) -> bool | tuple[bool, str]:
    """`true`; `false` and why where there is no room any more, which is no error. A later text of the same key replaces it.

    Keys of different plugins are different keys.
    """
    call = Arguments("cru.context.attach", given)
    text, options = call.take("text", TEXT), call.options("key", "session")
    key = options.read("key", WORD) or f"#{next(unnamed)}"
    session = library.session(call.function, options)
    try:
        reach_of(library, call).attach(session, text, f"{library.owner}:{key}")
    except ReachRefused as refusal:
        return False, str(refusal)
    return True
