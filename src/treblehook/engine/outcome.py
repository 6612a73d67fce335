"""What the host must now do after one dispatch."""

from typing import Generic, TypeVar

from msgspec import Struct

from treblehook.engine.handler import Handler
from treblehook.lifecycle import Block, Decision, Event, Refuse, Replace

E = TypeVar("E", bound=Event)


class Contribution(Struct, frozen=True):
    """A decision that rides along; `position` is the 1-based place of its handler among those bound at this dispatch."""

    handler: Handler
    decision: Decision
    position: int


class Outcome(Struct, Generic[E]):
    """The fold of all decisions of one dispatch.

    `value` is the event as rewritten; `decision` the one that settled the dispatch, given by `by`;
    `contributions` those that count at this event.
    """

    value: E
    decision: Decision | None = None
    by: Handler | None = None
    contributions: tuple[Contribution, ...] = ()
    failure: str | None = None
    """the error behind a decision that a closed failure made"""

    @property
    def blocked(self) -> Block | Refuse | None:
        """The block or refusal, if there is one."""
        return self.decision if isinstance(self.decision, Block | Refuse) else None

    @property
    def replaced(self) -> Replace | None:
        """The replacement, if there is one."""
        return self.decision if isinstance(self.decision, Replace) else None
