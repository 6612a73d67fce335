"""The events of Claude Code that are known here: what they are to us, where they run, and what their matchers look at."""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.contracts.claude.settings.tools import names_of
from treblehook.lifecycle import (
    CompactionStarting,
    Event,
    PermissionRequest,
    PromptSubmitted,
    SessionEnd,
    SessionStart,
    ToolFinished,
    ToolProposed,
    TurnEnding,
)

AGENT_TYPE: Final = "general-purpose"
"""Subagents have one kind here, which is what Claude Code calls its own plain ones."""
SOURCES: Final = {"start": "startup", "resume": "resume", "compacted": "compact"}
TRIGGERS: Final = {"manual": "manual", "automatic": "auto"}
END_REASON: Final = "other"

Words = tuple[str, ...]


class SettingsEvent(Struct, frozen=True):
    """One event. `words` gives what a matcher is held against, None where the event has no matcher; `happens` says whether an event of
    ours is this one; `seconds` is the time limit of a hook that names none, and `most` the longest that it may name."""

    name: str
    event: type[Event]
    sessions: Literal["every", "user", "spawned"] = "user"
    words: Callable[[Any], Words] | None = None
    happens: Callable[[Any], bool] = lambda event: True
    seconds: float = 600.0
    most: float | None = None

    @property
    def of_tools(self) -> bool:
        """Whether it is about one tool call."""
        return self.event.targeted

    def runs_in(self, *, spawned: bool) -> bool:
        """Whether its hooks are bound in a session, which another agent may have spawned."""
        return self.sessions in ("every", "spawned" if spawned else "user")


def _tool(event: Any) -> Words:
    return names_of(event.call.name)


def _agent(event: Event) -> Words:
    return (AGENT_TYPE,)


_EVENTS: Final = (
    SettingsEvent("SessionStart", SessionStart, words=lambda event: (SOURCES[event.reason],)),
    SettingsEvent("SubagentStart", SessionStart, "spawned", _agent, lambda event: event.reason != "compacted"),
    SettingsEvent("UserPromptSubmit", PromptSubmitted, seconds=30.0),
    SettingsEvent("PreToolUse", ToolProposed, "every", _tool),
    SettingsEvent("PermissionRequest", PermissionRequest, "every", _tool),
    SettingsEvent("PostToolUse", ToolFinished, "every", _tool, lambda event: not event.is_error),
    SettingsEvent("PostToolUseFailure", ToolFinished, "every", _tool, lambda event: event.is_error),
    SettingsEvent("Stop", TurnEnding),
    SettingsEvent("SubagentStop", TurnEnding, "spawned", _agent),
    SettingsEvent("PreCompact", CompactionStarting, words=lambda event: (TRIGGERS[event.reason],)),
    SettingsEvent("SessionEnd", SessionEnd, words=lambda event: (END_REASON,), seconds=1.5, most=60.0),
)

EVENTS: Final[dict[str, SettingsEvent]] = {event.name: event for event in _EVENTS}
