"""What one agent's codec does, and what is known of an agent: which of our decisions it honours where, and what it is told instead."""

from typing import Any, Literal, Protocol

from msgspec import Struct

from treblehook.gateway.values import Answer, Arrived
from treblehook.lifecycle import Decision, Event


class PayloadInvalid(Exception):
    """A hook call that is not as this agent sends it; `place` is the path in its JSON, `found` and `allowed` are in words."""

    def __init__(self, place: str, found: str, allowed: str) -> None:
        super().__init__(f"{place}: found {found}, allowed: {allowed}")
        self.place = place
        self.found = found
        self.allowed = allowed


class Support(Struct, frozen=True):
    """What becomes of `decision` at `event` in one agent; a `decision` of None stands for the event as a whole.

    `honoured`: as it is meant. `stricter`: `instead` says what the agent is told in its place, which stops more than was meant.
    `lost`: the agent cannot be told, and `instead` says what happens. `unasked`: the agent never gets to this event.
    """

    event: type[Event]
    decision: type[Decision] | None
    how: Literal["honoured", "stricter", "lost", "unasked"]
    instead: str = ""


class Hooked(Struct, frozen=True):
    """One of the agent's own events, at which it is to call us. `events` are ours that are fired there: with a closed handler at one of
    them the call must not be lost. `http` is true where the agent can call over HTTP at this event, and then opens where nobody answers."""

    name: str
    events: tuple[type[Event], ...]
    http: bool = False


class Codec(Protocol):
    """One agent's hook calls, both ways. It keeps nothing between calls."""

    @property
    def name(self) -> str:
        """As on the command line: `claude-code`."""

    @property
    def hooked(self) -> tuple[Hooked, ...]:
        """Every event that is installed, in the order in which they are written into the agent's configuration."""

    @property
    def support(self) -> tuple[Support, ...]:
        """The capability table: a row for every event of ours and every decision that it accepts."""

    def decode(self, event: str, payload: dict[str, Any]) -> Arrived:
        """The hook call `event` ("" where only the payload tells). An event that is not known is `Other`. Raises `PayloadInvalid`."""

    def encode(self, arrived: Arrived, answer: Answer) -> dict[str, Any]:
        """The JSON object that this agent honours; an empty one means no opinion. An answer that cannot be said becomes the stricter
        one of `support`."""

    def refuse(self, event: str, reason: str) -> dict[str, Any]:
        """What stops whatever the agent is about to do at its `event`, where not even the call could be read; no opinion where nothing can
        be stopped."""
