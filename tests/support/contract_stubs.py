"""Handlers bound as each contract binds its own, for the rows of the three contracts."""

from typing import Any

from tests.support.hooks import Rig, after, deaf, stub
from treblehook.engine import Handler, HookFailed, HookNotStarted, Lane, OnFailure, Outcome, Queued, Tier
from treblehook.lifecycle import Continue, Event, PreToolCall, PromptSubmitted, SessionStart, ToolFinished, ToolProposed, TurnEnding


async def fired(event: Event, *handlers: Handler) -> tuple[Outcome[Any], Rig]:
    """Fire `event` at `handlers` alone, and see that the journal is whole."""
    rig = Rig(*handlers)
    outcome = await rig.fire(event)
    await rig.background.drain()
    rig.check_journal()
    return outcome, rig


def lua(kind: type[Event], given: Any = None, *, vm: Tier = Tier.SESSION, **options: Any) -> Handler:
    """crucible: a Lua handler of `vm`, with a budget of 30 s; `pre_tool_call` fails closed, everything else open."""
    closed = OnFailure.CLOSED if kind is PreToolCall else OnFailure.OPEN
    return stub(kind, given, **{"tier": vm, "lane": Lane("crucible"), "on_failure": closed, "timeout": 30.0, **options})


def artifact(kind: type[Event], given: Any = None, **options: Any) -> Handler:
    """murmur: a blocking artifact, with 30 s for a call."""
    return stub(kind, given, **{"tier": Tier.CAPSULE, "lane": Lane("murmur"), "timeout": 30.0, **options})


def observer(kind: type[Event], given: Any = None, **options: Any) -> Handler:
    """murmur: an artifact in `async` mode."""
    return artifact(kind, given, **{"delivery": Queued(), **options})


_PHASES: dict[type[Event], tuple[OnFailure, float | None]] = {
    ToolProposed: (OnFailure.CLOSED, 60.0),
    ToolFinished: (OnFailure.ABORT, 5.0),
    SessionStart: (OnFailure.OPEN, None),
    PromptSubmitted: (OnFailure.CLOSED, 60.0),
    TurnEnding: (OnFailure.ABORT, 60.0),
}
"""vera: what a failure of an entry of config.json counts as, and the deadline that the hooks of one occurrence share."""


def cfg(kind: type[Event], given: Any = None, **options: Any) -> Handler:
    """vera: an executable of config.json."""
    on_failure, seconds = _PHASES[kind]
    return stub(kind, given, **{"tier": Tier.CONFIG, "lane": Lane("vera", seconds), "on_failure": on_failure, "timeout": 30.0, **options})


def ext(kind: type[Event], given: Any = None, **options: Any) -> Handler:
    """vera: a function of an extension, which always fails open."""
    return cfg(kind, given, **{"tier": Tier.EXTENSION, "on_failure": OnFailure.OPEN, "timeout": None, **options})


VERA_FAILURES: dict[str, Any] = {
    "exit status": HookFailed("exit status 1"),
    "empty output": HookFailed("its output is empty"),
    "no such file": HookNotStarted("no such file"),
    "bad power": 3,
    "a power of another phase": Continue("go on"),
    "timeout": after(31),
    "timeout not heeded": deaf(31),
}
"""What a hook may do that counts as a failure in every phase (except that a turn's end may be continued)."""
