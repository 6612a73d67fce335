"""`cru.sessions`: the open sessions (crucible.md 10.2). A session that is not open raises, except in `get`."""

from itertools import count
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.in_order import InOrder
from treblehook.contracts.crucible.library.kinds import COUNT, FUNCTION, WORD, choice
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.owned import End
from treblehook.contracts.crucible.library.reached import reach_of
from treblehook.host.reach import OpenSession, ReachRefused


def install(library: Library) -> None:
    subscriptions = Subscriptions(library)
    library.lua.provide("cru.sessions.list", lambda *given: _list(library, given))
    library.lua.provide("cru.sessions.get", lambda *given: _get(library, given))
    library.lua.provide_async("cru.sessions.send", lambda *given: _send(library, given))
    library.provide_lua("cru.sessions.subscribe", "subscribe", subscriptions.add, subscriptions.end)


def _list(library: Library, given: tuple[object, ...]) -> list[dict[str, Any]]:
    return [_told(session) for session in reach_of(library, Arguments("cru.sessions.list", given)).sessions()]


def _get(library: Library, given: tuple[object, ...]) -> dict[str, Any] | None:
    """One session, that of the call unless another one is named; nil where it is not open."""
    call = Arguments("cru.sessions.get", given)
    wanted = call.may_take("session", WORD, library.caller.session)
    return next((_told(session) for session in reach_of(library, call).sessions() if session.id == wanted), None)


async def _send(library: Library, given: tuple[object, ...]) -> None:
    """Give a session a message: `idle` (else) waits for the running turn, `now` joins it. Returns once it was accepted."""
    call = Arguments("cru.sessions.send", given)
    session, text = call.take("session", WORD), call.take("text", WORD)
    when = call.options("when").read("when", choice("idle", "now"), "idle")
    try:
        await reach_of(library, call).prompt(session, text, "now" if when == "now" else "idle")
    except ReachRefused as refusal:
        call.refuse(str(refusal))


class Subscriptions:
    """Who listens to sessions, by number."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._numbers = count(1)
        self._ends: dict[int, End] = {}

    def add(self, *given: object) -> int:
        call = Arguments("cru.sessions.subscribe", given)
        session, function = call.take("session", WORD), call.take("function", FUNCTION)
        listener = InOrder(self._library, function, call.function)
        try:
            end = reach_of(self._library, call).subscribe(session, listener.tell)
        except ReachRefused as refusal:
            call.refuse(str(refusal))
        number = next(self._numbers)

        def finish() -> None:
            forget()
            end()
            listener.close()

        forget = self._library.owned.add(self._library.caller.owner, finish)
        self._ends[number] = finish
        return number

    def end(self, *given: object) -> None:
        """Ending twice is fine."""
        end = self._ends.pop(Arguments("cru.sessions.subscribe", given).take("subscription", COUNT), None)
        if end is not None:
            end()


def _told(session: OpenSession) -> dict[str, Any]:
    return {
        "id": session.id,
        "workspace": session.workspace or None,
        "model": session.model,
        "running": session.running,
        "parent": session.parent,
    }
