"""One event at the handlers of a home, and nothing else: no tool runs, no session is opened, nothing is written."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from treblehook.agent.subagents import SPEC
from treblehook.contracts.claude import payloads as claude_payloads
from treblehook.contracts.claude.settings.bind import CONTRACT
from treblehook.contracts.claude.settings.events import EVENTS as SETTINGS_EVENTS
from treblehook.contracts.claude.settings.payloads import payload as settings_payload
from treblehook.contracts.crucible.events import EVENTS
from treblehook.contracts.vera import payloads as vera_payloads
from treblehook.contracts.vera.json_text import encoded
from treblehook.engine import Background, Call, Dispatcher, Handler, Journal, Mode, OnFailure, Registry
from treblehook.home.claude_settings import SessionSettings
from treblehook.home.components.laying import bound_components
from treblehook.home.dry_run.calls import KnownTools
from treblehook.home.dry_run.events import check_options, sample_event
from treblehook.home.dry_run.verdict import Verdict, verdict
from treblehook.home.dry_run.wish import Wish
from treblehook.home.event_names import EventName
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.home.lua.machines import SessionLua
from treblehook.host.mcp import tool_prefix
from treblehook.host.tool import ShellTool
from treblehook.host.tools import builtin_tools
from treblehook.lifecycle import Event, ToolProposed

_GRACE_SECONDS: Final = 5.0
"""On top of what observers may take."""

_PAYLOADS: Final[dict[tuple[str, str], Callable[[Any], Any]]] = {
    **{("vera", event): payload for event, payload in vera_payloads.PAYLOADS.items()},
    **{("crucible", name): event.payload for name, event in EVENTS.items()},
    **{("claude", event): payload for event, payload in claude_payloads.PAYLOADS.items()},
}


class Asked(Struct, frozen=True):
    """One call; `at` is when it ended, `payload` what the hook was sent, None where nothing is sent."""

    call: Call
    at: datetime
    payload: str | None


class NotAsked(Struct, frozen=True):
    """A handler that is bound to the event and was not asked."""

    handler: Handler
    why: str


class DryRun(Struct, frozen=True):
    """What happened: the calls in the order in which they began, who was not asked, and the outcome."""

    fired: Event
    asked: tuple[Asked, ...]
    not_asked: tuple[NotAsked, ...]
    verdict: Verdict


async def dry_run(home: Home, name: EventName, wish: Wish) -> DryRun:
    """Fire `name`, and wait for observers too. Where a name stands for two events, a refusal of the first ends it.

    Tools of MCP servers are not among the tools that are offered, since no server is started. Raises WishInvalid, and
    `ConfigInvalid` where a session would not start.
    """
    check_options(name, wish)
    wish = replace(wish, spawned=wish.spawned or name.spawned)
    events = [sample_event(kind, wish, _tools(home), home.settings.model.default or "") for kind in name.events]
    claude = home.claude.session(Path(wish.workspace))
    registry = await session_registry(home, spawned=wish.spawned, claude=claude)
    home.lua.open_session(registry, SessionLua(wish.session, Path(wish.workspace)))
    components = await bound_components(home, registry, wish.session, Path(wish.workspace), spawned=wish.spawned)
    if components is not None:
        await components.open(home.settings.file)
    journal, background = Journal(), Background()
    dispatcher = Dispatcher(registry, background=background, journal=journal)
    now, clock = datetime.now(UTC), journal.clock()
    for fired in events:
        outcome = await dispatcher.fire(fired)
        if outcome.blocked is not None:
            break
    seconds = _patience(registry)
    await background.drain(queued_seconds=seconds, detached_seconds=seconds)
    told = _with_wish(verdict(fired, outcome), outcome.value, claude)
    asked = tuple(Asked(call, now + timedelta(seconds=(call.stopped or clock) - clock), _payload(call, home)) for call in journal.calls)
    return DryRun(fired, asked, _not_asked(registry, events, asked), told)


def _with_wish(found: Verdict, event: Event, claude: SessionSettings) -> Verdict:
    """What hooks of Claude Code's settings say of a permission decides nothing here: the rules take it up."""
    wish = claude.wishes.of(event.call) if isinstance(event, ToolProposed) else None
    if wish is None:
        return found
    decision = {"type": wish.kind, "reason": wish.reason} if wish.reason else {"type": wish.kind}
    contributions = [*found.contributions, {"hook": "PreToolUse hooks", "decision": decision}]
    return replace(found, status="contributed" if found.status == "passed" else found.status, contributions=contributions)


def _tools(home: Home) -> KnownTools:
    tools = builtin_tools(home.tool_processes)
    specs = {tool.spec.name: tool.spec for tool in tools} | {SPEC.name: SPEC}
    prefixes = tuple(tool_prefix(server.name) for server in home.settings.mcp)
    return KnownTools(specs, {tool.spec.name: tool for tool in tools if isinstance(tool, ShellTool)}, prefixes)


def _patience(registry: Registry) -> float:
    """Seconds in which everything that nobody waits for is over, even one after the other."""
    return _GRACE_SECONDS + sum(handler.timeout or _GRACE_SECONDS for handler in registry.handlers())


def _payload(call: Call, home: Home) -> str | None:
    """What an executable was sent: its contract makes the same of the same event."""
    origin = call.handler.origin
    if origin.contract == CONTRACT and SETTINGS_EVENTS[origin.event].event is type(call.event):
        return encoded(settings_payload(origin.event, call.event, home.claude.transcript)).decode()
    payload = _PAYLOADS.get((origin.contract, origin.event))
    return None if payload is None else encoded(payload(call.event)).decode()


def _not_asked(registry: Registry, events: list[Event], asked: tuple[Asked, ...]) -> tuple[NotAsked, ...]:
    reached = {one.call.handler for one in asked}
    return tuple(
        NotAsked(handler, _why_not(handler, fired, asked))
        for fired in events
        for handler in registry.handlers()
        if handler.event is type(fired) and handler not in reached
    )


def _why_not(handler: Handler, fired: Event, asked: tuple[Asked, ...]) -> str:
    if handler.mode is Mode.OFF:
        return "it is switched off"
    if handler.pattern is not None and not handler.pattern.matches(fired.target):
        return f"its pattern {handler.pattern.text} does not match"
    if handler.when is not None and not handler.when(fired):
        return "it is not for this event"
    for call in (one.call for one in asked):
        if call.error is not None and call.handler.on_failure is OnFailure.ABORT and call.handler.lane == handler.lane:
            return f"{call.handler.name} failed before it"
    return "the event was settled before its turn came"
