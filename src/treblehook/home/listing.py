"""What `hooks list` lists: every handler of a home's sessions, in the order in which it would run."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from treblehook.engine import Handler, OnFailure
from treblehook.home.components.laying import bound_components
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.home.lua.machines import SessionLua
from treblehook.lifecycle import ROWS, Fold

Sessions = Literal["every", "user", "subagent"]
_ROW_OF: Final = {event: row for row, (_, event) in enumerate(ROWS)}


class Bound(Struct, frozen=True):
    """A handler and the sessions in which it is bound. `held_back` says why it is not run, None where it is."""

    handler: Handler
    sessions: Sessions = "every"
    held_back: str | None = None


class Listed(Struct, frozen=True):
    """One record of `hooks list` (design, section 6). `event` is the contract's own name, `order` counts from 1."""

    order: int
    event: str
    contract: str
    hook: str
    file: str
    line: int | None
    tier: str
    priority: int
    pattern: str | None
    timeout_ms: int | None
    lane: str | None
    on_failure: str
    mode: str
    held_back: str | None


async def bound_handlers(home: Home, workspace: Path | None = None, elsewhere: Collection[str] = ()) -> list[Bound]:
    """Every handler of user sessions and subagents, switched off ones included, by lifecycle row and then as it would run.

    With a `workspace`, those of its code too, where that is trusted; of its Claude Code settings also where they are held back.
    An agent runs the hooks of the settings in `elsewhere` itself.

    Raises `ConfigInvalid` where a session would not start.
    """
    user = await _handlers(home, workspace, elsewhere, spawned=False)
    subagent = await _handlers(home, workspace, elsewhere, spawned=True)
    return sorted((*_merged(user, subagent), *_held_back(home, workspace, elsewhere)), key=lambda bound: _ROW_OF[bound.handler.event])


async def _handlers(home: Home, workspace: Path | None, elsewhere: Collection[str], *, spawned: bool) -> list[Handler]:
    """Those of one kind of session. Its machine is closed with the home: what it has registered is what is listed."""
    registry = await session_registry(home, spawned=spawned, claude=home.claude.session(workspace, elsewhere=elsewhere))
    home.lua.open_session(registry, SessionLua("", workspace))
    await bound_components(home, registry, "", workspace or home.path, spawned=spawned)
    return registry.handlers()


def _held_back(home: Home, workspace: Path | None, elsewhere: Collection[str]) -> Iterator[Bound]:
    """What can be listed without being run."""
    (user, why), (subagent, _) = (home.claude.held_back(workspace, spawned=spawned, elsewhere=elsewhere) for spawned in (False, True))
    for bound in _merged(user, subagent):
        yield Bound(bound.handler, bound.sessions, why)


def listed(order: int, bound: Bound) -> Listed:
    """The record of a handler."""
    handler = bound.handler
    return Listed(
        order=order,
        event=handler.origin.event,
        contract=handler.origin.contract,
        hook=handler.name,
        file=handler.origin.file,
        line=handler.origin.line,
        tier=handler.tier.name.lower(),
        priority=handler.priority,
        pattern=None if handler.pattern is None else handler.pattern.text,
        timeout_ms=None if handler.timeout is None else round(handler.timeout * 1000),
        lane=None if handler.lane is None else handler.lane.name,
        # A gate opens for a clean pass alone.
        on_failure=OnFailure.CLOSED.value if handler.event.fold is Fold.GATE else handler.on_failure.value,
        mode=handler.mode.value,
        held_back=bound.held_back,
    )


def _merged(user: Sequence[Handler], subagent: Sequence[Handler]) -> Iterator[Bound]:
    """Both kinds of sessions in one list. What both have stands in both in the same order, each with handlers of its own."""
    matcher = SequenceMatcher(None, _identities(user), _identities(subagent), autojunk=False)
    for what, user_from, user_to, subagent_from, subagent_to in matcher.get_opcodes():
        yield from (Bound(handler, "every" if what == "equal" else "user") for handler in user[user_from:user_to])
        if what != "equal":
            yield from (Bound(handler, "subagent") for handler in subagent[subagent_from:subagent_to])


def _identities(handlers: Sequence[Handler]) -> list[tuple[object, ...]]:
    """What tells each handler from the others; of several that are alike, which one it is."""
    seen: Counter[tuple[object, ...]] = Counter()
    found: list[tuple[object, ...]] = []
    for handler in handlers:
        likeness: tuple[object, ...] = (handler.event, handler.origin, handler.name, handler.tier, handler.priority)
        seen[likeness] += 1
        found.append((*likeness, seen[likeness]))
    return found
