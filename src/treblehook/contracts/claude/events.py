"""The seven Claude events that this protocol knows, the phase that each runs as, and the sessions it runs in (vera.md 4.1)."""

from typing import Final, Literal

from msgspec import Struct


class ClaudeEvent(Struct, frozen=True):
    """One event: `phase` is the phase it runs as, `sessions` says whether it runs in spawned sessions."""

    name: str
    phase: str
    sessions: Literal["every", "user", "spawned"]

    def runs_in(self, *, spawned: bool) -> bool:
        """Whether a hook of this event is bound in a session, which another agent may have spawned."""
        return self.sessions in ("every", "spawned" if spawned else "user")


_EVENTS: Final = (
    ClaudeEvent("PreToolUse", "pre_tool_use", "every"),
    ClaudeEvent("SessionStart", "session_start", "every"),
    ClaudeEvent("UserPromptSubmit", "pre_turn", "user"),
    ClaudeEvent("Stop", "turn_ending", "user"),
    ClaudeEvent("SubagentStop", "turn_ending", "spawned"),
    ClaudeEvent("PreCompact", "pre_compact", "user"),
    ClaudeEvent("SessionEnd", "session_end", "user"),
)

EVENTS: Final[dict[str, ClaudeEvent]] = {event.name: event for event in _EVENTS}

ALIASES: Final[dict[str, ClaudeEvent]] = {event.phase: event for event in _EVENTS if event.name != "SubagentStop"}
"""What a phase name in an entry of this protocol stands for: `turn_ending` is the top-level event, Stop."""


def event_of(phase: str) -> ClaudeEvent:
    """What the `phase` of a valid entry of this protocol stands for."""
    return EVENTS.get(phase) or ALIASES[phase]
