"""The record of every handler call: planned, then finished, with its decision, time and error."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum

from msgspec import Struct

from treblehook.engine.errors import HookNotStarted, HookProblem, HookTimedOut
from treblehook.engine.handler import Answer, Handler
from treblehook.lifecycle import Decision, Event


class Ended(Enum):
    """The five ways in which a call of a handler ends."""

    ANSWERED = "answered"
    PASSED = "passed"
    NOT_STARTED = "not_started"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Call(Struct, eq=False):
    """One call of a handler: planned when it is made, finished once `stopped` is set.

    `started` and `stopped` are the journal's clock in seconds; `position` is the handler's 1-based place among those bound
    at this dispatch, `raw` the hook's own words. `end` is None for a call that passed. `problem` is the kind of the failure
    that `error` tells.
    """

    handler: Handler
    event: Event
    started: float
    position: int
    stopped: float | None = None
    end: Ended | None = None
    decision: Decision | None = None
    error: str | None = None
    problem: type[HookProblem] | None = None
    raw: str | None = None

    @property
    def ended(self) -> Ended | None:
        """How the call ended; None while it is only planned."""
        return None if self.stopped is None else self.end or Ended.PASSED

    @property
    def ms(self) -> float:
        """How long the call took, in milliseconds; 0 while it is only planned."""
        return 0.0 if self.stopped is None else (self.stopped - self.started) * 1000


class Watcher:
    """Told of calls as they happen: `planned` before a call that may take time, `finished` after a dispatch with all of its
    calls, or with a background call when that is over."""

    def planned(self, call: Call) -> None:
        """`call` is about to be made."""

    def finished(self, calls: Sequence[Call]) -> None:
        """`calls` are over."""


class Journal:
    """Keeps the newest `keep` calls, none with `on=False`, and tells its watchers of all of them."""

    def __init__(self, *, keep: int = 1000, on: bool = True, clock: Callable[[], float] = time.perf_counter) -> None:
        self.on = on
        self.calls: deque[Call] = deque(maxlen=keep)
        self.watchers: list[Watcher] = []
        self.clock = clock

    def plan(self, handler: Handler, event: Event, position: int) -> Call:
        """Record that `handler` is about to be asked."""
        call = Call(handler, event, self.clock(), position)
        if self.on:
            self.calls.append(call)
        for watcher in self.watchers:
            watcher.planned(call)
        return call

    def answered(self, call: Call, answer: Answer) -> None:
        """Record what `call` answered, or that it passed."""
        call.end = Ended.PASSED if answer.decision is None else Ended.ANSWERED
        call.decision = answer.decision
        call.raw = answer.raw
        call.stopped = self.clock()

    def failed(self, call: Call, problem: HookProblem) -> None:
        """Record why `call` has no answer."""
        call.end = _ended_by(problem)
        call.error = problem.message
        call.problem = type(problem)
        call.raw = problem.raw
        call.stopped = self.clock()

    def tell(self, calls: Sequence[Call]) -> None:
        """Tell the watchers that `calls` are over."""
        for watcher in self.watchers:
            watcher.finished(calls)


def _ended_by(problem: HookProblem) -> Ended:
    if isinstance(problem, HookTimedOut):
        return Ended.TIMED_OUT
    return Ended.NOT_STARTED if isinstance(problem, HookNotStarted) else Ended.FAILED
