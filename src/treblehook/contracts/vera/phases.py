"""The phases of hooks: the event behind each, its deadline, its bounds, and what a failure there means (vera.md 3)."""

from typing import Final

from msgspec import Struct

from treblehook.engine import DETACHED, INLINE, Lane, OnFailure
from treblehook.engine.handler import Delivery
from treblehook.lifecycle import (
    CompactionStarting,
    Event,
    PromptSubmitted,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolFinished,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

LANE: Final = "vera"
"""Both protocols, executables and extensions share one lane."""

CONTEXT_BYTES: Final = 131_072
STDOUT_BYTES: Final = 65_536
CONTEXT_STDOUT_BYTES: Final = 6 * CONTEXT_BYTES + 4_096
"""Every byte of a context may be escaped as six (`\\u00XX`)."""


class Phase(Struct, frozen=True):
    """One phase. `seconds` is the deadline that the hooks of one occurrence share; `on_failure` holds for hooks of config.json."""

    name: str
    event: type[Event]
    on_failure: OnFailure
    seconds: float | None = None
    stdout_bytes: int = STDOUT_BYTES
    delivery: Delivery = INLINE

    @property
    def lane(self) -> Lane:
        """The lane of this phase's handlers."""
        return Lane(LANE, self.seconds)

    @property
    def observes(self) -> bool:
        """Whether hooks can only watch, and nothing waits for them."""
        return self.delivery is DETACHED


_ROWS: Final = (
    Phase("session_start", SessionStart, OnFailure.OPEN, stdout_bytes=CONTEXT_STDOUT_BYTES),
    Phase("pre_turn", PromptSubmitted, OnFailure.CLOSED, 60.0, CONTEXT_STDOUT_BYTES),
    Phase("pre_compact", CompactionStarting, OnFailure.OPEN, delivery=DETACHED),
    Phase("pre_tool_use", ToolProposed, OnFailure.CLOSED, 60.0),
    Phase("post_tool_use", ToolFinished, OnFailure.ABORT, 5.0),
    Phase("turn_ending", TurnEnding, OnFailure.ABORT, 60.0, CONTEXT_STDOUT_BYTES),
    Phase("subagent_finished", SubagentFinished, OnFailure.OPEN, delivery=DETACHED),
    Phase("session_end", SessionEnd, OnFailure.OPEN, delivery=DETACHED),
)

PHASES: Final[dict[str, Phase]] = {phase.name: phase for phase in _ROWS}
"""The eight phases that an executable can have."""

FUNCTION_PHASES: Final[dict[str, Phase]] = {
    **PHASES,
    "turn_finished": Phase("turn_finished", TurnComplete, OnFailure.OPEN, delivery=DETACHED),
}
"""Those that a function of an extension can have (vera.md 3.9)."""

PHASE_OF_EVENT: Final[dict[type[Event], Phase]] = {phase.event: phase for phase in FUNCTION_PHASES.values()}
