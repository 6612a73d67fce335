"""A handler: one hook bound to one event, with everything that decides when it runs and what its failure means."""

from collections.abc import Awaitable, Callable
from enum import Enum, IntEnum
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.engine.errors import BindError
from treblehook.engine.patterns import Pattern
from treblehook.lifecycle import Decision, Event, Fold


class Tier(IntEnum):
    """Who comes first at one event (design, section 3)."""

    CONFIG = 0
    EXTENSION = 1
    PYTHON = 2
    SESSION = 3
    PLUGIN = 4
    CAPSULE = 5


class OnFailure(Enum):
    """What a call that gave no answer counts as."""

    OPEN = "open"
    CLOSED = "closed"
    ABORT = "abort"


class Mode(Enum):
    """What the user made of a hook: `report` is asked and journalled, never obeyed."""

    ON = "on"
    REPORT = "report"
    OFF = "off"


class Lane(Struct, frozen=True):
    """The handlers of one contract that share fate at one event; `seconds` is the deadline that they share."""

    name: str
    seconds: float | None = None


class Inline(Struct, frozen=True):
    """The dispatch awaits the answer."""


class Queued(Struct, frozen=True):
    """The event waits in a queue of `depth`, behind the one under way; a full queue drops the newest or makes the dispatch wait.

    The queue is the handler's own, or the one of all handlers that name the same `queue`: a hook that hears of many events hears of them
    in order.
    """

    depth: int = 1024
    overflow: Literal["drop", "block"] = "drop"
    queue: str = ""


class Detached(Struct, frozen=True):
    """The call is started and nobody waits."""


Delivery = Inline | Queued | Detached
INLINE: Final = Inline()
DETACHED: Final = Detached()


class Origin(Struct, frozen=True):
    """Where a hook comes from: the contract it was written for, that contract's name of the event, and its place on disk."""

    contract: str
    event: str
    file: str = ""
    line: int | None = None


class Answer(Struct, frozen=True):
    """A decision together with the words in which the hook gave it."""

    decision: Decision | None
    raw: str | None = None


PASS: Final = Answer(None)

Ask = Callable[[Any], Awaitable[Decision | Answer | None]]


class Handler:
    """One hook bound to one event.

    `ask` gets the event and answers a decision, None for a pass, or an `Answer`; it raises `HookProblem` (or anything
    else, which counts as failed). `timeout` is in seconds; with `keeps_time` its runtime keeps it, from the moment at which the
    hook's code is entered, and raises `HookTimedOut`. `immediate` is true where asking takes nothing but an await: no limit, no
    condition, obeyed, awaited. Raises `BindError` where the binding could never be kept.
    """

    __slots__ = (
        "ask",
        "cancellable",
        "delivery",
        "event",
        "immediate",
        "keeps_time",
        "lane",
        "mode",
        "name",
        "on_failure",
        "origin",
        "pattern",
        "priority",
        "removed",
        "sequence",
        "tier",
        "timeout",
        "when",
    )

    def __init__(
        self,
        event: type[Event],
        ask: Ask,
        *,
        name: str,
        origin: Origin,
        tier: Tier,
        priority: int = 100,
        pattern: str | None = None,
        timeout: float | None = None,
        keeps_time: bool = False,
        cancellable: bool = False,
        lane: Lane | None = None,
        on_failure: OnFailure = OnFailure.OPEN,
        delivery: Delivery = INLINE,
        mode: Mode = Mode.ON,
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        self.event = event
        self.ask = ask
        self.name = name
        self.origin = origin
        self.tier = tier
        self.priority = priority
        self.pattern = None if pattern is None else Pattern(pattern)
        self.timeout = timeout
        self.keeps_time = keeps_time
        self.cancellable = cancellable
        self.lane = lane
        self.on_failure = on_failure
        self.delivery = delivery
        self.mode = mode
        self.when = when
        self.removed = False
        self.sequence = -1
        self._check()
        self.immediate = self._is_immediate()

    def _check(self) -> None:
        if self.on_failure is OnFailure.CLOSED and self.event.strictest("") is None:
            self._refuse("a closed failure policy needs an event that accepts a block or a refusal")
        if self.event.fold is Fold.GATE and self.mode is not Mode.ON:
            self._refuse(f"a gate is always on, mode {self.mode.value!r} is not allowed")
        if not isinstance(self.delivery, Inline):
            self._check_background()
        if self.timeout is not None and not self.timeout > 0:
            self._refuse(f"timeout {self.timeout!r} must be more than 0 seconds")

    def _check_background(self) -> None:
        if self.event.fold not in (Fold.NOTIFY, Fold.GATHER):
            self._refuse("the event needs the answer, so the handler must be inline")
        if self.on_failure is not OnFailure.OPEN:
            self._refuse(f"nobody waits for the handler, so its failure cannot count as {self.on_failure.value!r}")
        if isinstance(self.delivery, Queued) and self.delivery.depth < 1:
            self._refuse(f"a queue of depth {self.delivery.depth} holds nothing")

    def _refuse(self, problem: str) -> None:
        raise BindError(self.name, self.event.__name__, problem)

    @property
    def key(self) -> tuple[int, int, int]:
        """The place in the order: tier, priority, registration."""
        return (self.tier, self.priority, self.sequence)

    @property
    def armed(self) -> float | None:
        """The time limit that the engine has to keep, in seconds."""
        return None if self.keeps_time else self.timeout

    def _is_immediate(self) -> bool:
        return (
            self.armed is None
            and (self.lane is None or self.lane.seconds is None)
            and self.when is None
            and self.mode is Mode.ON
            and isinstance(self.delivery, Inline)
        )

    def __repr__(self) -> str:
        return f"<Handler {self.name} at {self.event.__name__}>"
