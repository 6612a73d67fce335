"""Which hooks of a home an outside agent cannot honour, and what happens instead."""

from collections.abc import Iterable, Iterator
from typing import Literal

from treblehook.engine import Handler, Mode
from treblehook.gateway.codec import Codec, Support
from treblehook.gateway.service import is_closed
from treblehook.home.listing import Bound
from treblehook.host.problems import Problem


def unhonoured(bound: Iterable[Bound], codec: Codec) -> Iterator[Problem]:
    """A problem for each handler that the agent never asks, or to which it cannot do justice: an error where a guard is never asked or its
    refusal is lost, else a warning. One for a handler and an event; hooks that are switched off have none. Then one for each way past some
    of them."""
    handlers = list(_distinct(bound))
    for handler in handlers:
        problem = _problem(handler, codec)
        if problem is not None:
            yield problem
    yield from _gaps(handlers, codec)


def _distinct(bound: Iterable[Bound]) -> Iterator[Handler]:
    seen: set[tuple[object, ...]] = set()
    for handler in (one.handler for one in bound if one.held_back is None):
        identity = (handler.event, handler.origin, handler.name)
        if handler.mode is not Mode.OFF and identity not in seen:
            seen.add(identity)
            yield handler


def _gaps(handlers: Iterable[Handler], codec: Codec) -> Iterator[Problem]:
    """What happens in the agent without a word to hooks that it asks otherwise."""
    gaps = {row.event: row.instead for row in codec.support if row.decision is None and row.how != "unasked" and row.instead}
    missed: dict[str, list[Handler]] = {}
    for handler in handlers:
        if handler.event in gaps:
            missed.setdefault(gaps[handler.event], []).append(handler)
    for gap, each in missed.items():
        names = ", ".join(dict.fromkeys(handler.name for handler in each))
        yield _told(each[0], f"{names}: in {codec.name}, {gap}", "warning")


def _problem(handler: Handler, codec: Codec) -> Problem | None:
    rows = [row for row in codec.support if row.event is handler.event]
    unasked = next((row for row in rows if row.how == "unasked" and row.decision is None), None)
    event = handler.origin.event
    if unasked is not None:
        message = f"{handler.name} is never asked by {codec.name} at {event}" + (f": {unasked.instead}" if unasked.instead else "")
        return _told(handler, message, "error" if is_closed(handler) and handler.mode is Mode.ON else "warning")
    if handler.mode is Mode.REPORT:
        # Whatever it answers, nobody obeys it anywhere.
        return None
    worse = [row for row in rows if row.decision is not None and row.how in ("stricter", "lost", "unasked")]
    if not worse:
        return None
    strictest = handler.event.strictest("")
    guard = is_closed(handler) and any(row.how == "lost" and row.decision is type(strictest) for row in worse)
    message = f"{handler.name} at {event}: {codec.name} cannot honour {'; '.join(map(_row, worse))}"
    return _told(handler, message, "error" if guard else "warning")


def _row(row: Support) -> str:
    assert row.decision is not None
    instead = row.instead or ("nothing happens" if row.how == "lost" else "it is refused")
    return f"{row.decision.__name__} ({instead})"


def _told(handler: Handler, message: str, level: Literal["error", "warning"]) -> Problem:
    origin = handler.origin
    place = origin.event if origin.line is None else f"line {origin.line}"
    return Problem(origin.file, place, message, level=level)
