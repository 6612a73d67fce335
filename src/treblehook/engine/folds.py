"""The five folds: how the answers of one dispatch become one outcome (design, section 4).

Each is the state of one dispatch: `take` a decision or a `failure`, say whether to stop, then give the `outcome`.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar

from treblehook.engine.handler import Handler, OnFailure
from treblehook.engine.outcome import Contribution, Outcome
from treblehook.lifecycle import AddContext, Decision, Environment, Event, Fold, Keep, Refuse, Rewrite
from treblehook.lifecycle.decisions import Kind

E = TypeVar("E", bound=Event)


class Folding(Protocol[E]):
    """The state of one dispatch under one of the folds."""

    value: E

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        """Fold in what `handler` decided; true stops the dispatch."""

    def failed(self, handler: Handler, error: str) -> bool:
        """Fold in that `handler` gave no answer; true stops the dispatch."""

    def skips(self, handler: Handler) -> bool:
        """Whether `handler` is not to be asked any more."""

    def outcome(self) -> Outcome[E]:
        """What the host must do."""


class _Settled(Generic[E]):
    """What the folds share: a value, the decision that settles it, and lanes that gave up."""

    def __init__(self, event: E) -> None:
        self.value = event
        self.decision: Decision | None = None
        self.by: Handler | None = None
        self.failure: str | None = None
        self.aborted: set[str] = set()

    def settle(self, handler: Handler, decision: Decision) -> bool:
        self.decision, self.by = decision, handler
        return True

    def close(self, handler: Handler, error: str) -> bool:
        """A closed handler failed: the strictest decision of the event."""
        strictest = self.value.strictest(f"{handler.origin.event} hook {handler.name} failed: {error}")
        assert strictest is not None, "binding a closed handler here was refused"
        self.failure = error
        return self.settle(handler, strictest)

    def abort(self, handler: Handler) -> None:
        if handler.lane is not None:
            self.aborted.add(handler.lane.name)

    def skips(self, handler: Handler) -> bool:
        return bool(self.aborted) and handler.lane is not None and handler.lane.name in self.aborted


class Chain(_Settled[E]):
    """One after the other; each sees what the one before made."""

    def __init__(self, event: E) -> None:
        super().__init__(event)
        self._fired = event
        self._steps: list[tuple[Handler, Rewrite]] = []
        self._contributions: list[Contribution] = []

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        if isinstance(decision, Rewrite):
            self.value = self.value.rewritten(decision)
            self._steps.append((handler, decision))
            if decision.context is not None:
                self._contributions.append(Contribution(handler, decision.context, position))
            return False
        if decision.kind is Kind.CONTRIBUTION:
            self._contributions.append(Contribution(handler, decision, position))
            return False
        if decision.kind is Kind.REFUSAL:
            self._contributions.clear()
        return self.settle(handler, decision)

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is OnFailure.OPEN:
            return False
        self._undo(handler)
        if handler.on_failure is OnFailure.CLOSED:
            self._contributions.clear()
            return self.close(handler, error)
        self.abort(handler)
        return False

    def _undo(self, handler: Handler) -> None:
        """Return the value to what entered the handler's lane; what other lanes made of it stands."""
        if handler.lane is None:
            return
        lane = handler.lane.name
        self._steps = [step for step in self._steps if step[0].lane is None or step[0].lane.name != lane]
        self._contributions = [c for c in self._contributions if c.handler.lane is None or c.handler.lane.name != lane]
        self.value = self._fired
        for _, rewrite in self._steps:
            self.value = self.value.rewritten(rewrite)

    def outcome(self) -> Outcome[E]:
        return Outcome(self.value, self.decision, self.by, tuple(self._contributions), self.failure)


class First(_Settled[E]):
    """The first usable decision wins and stops."""

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        return self.settle(handler, decision)

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is OnFailure.CLOSED:
            return self.close(handler, error)
        if handler.on_failure is OnFailure.ABORT:
            self.abort(handler)
        return False

    def outcome(self) -> Outcome[E]:
        return Outcome(self.value, self.decision, self.by, failure=self.failure)


class Gather(_Settled[E]):
    """All are asked, a refusal notwithstanding; the event declares which contribution counts."""

    def __init__(self, event: E) -> None:
        super().__init__(event)
        self._contributions: list[Contribution] = []

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        if decision.kind is Kind.REFUSAL:
            if self.decision is None:
                self.settle(handler, decision)
        elif not (isinstance(decision, AddContext) and not decision.text):
            self._contributions.append(Contribution(handler, decision, position))
        return False

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is OnFailure.CLOSED and self.decision is None:
            self.close(handler, error)
        elif handler.on_failure is OnFailure.ABORT and handler.lane is not None:
            lane = handler.lane.name
            self._contributions = [c for c in self._contributions if c.handler.lane is None or c.handler.lane.name != lane]
            self.abort(handler)
        return False

    def outcome(self) -> Outcome[E]:
        counted = () if isinstance(self.decision, Refuse) else _counted(self.value.keep, self._contributions)
        return Outcome(self.value, self.decision, self.by, counted, self.failure)


def _counted(keep: Keep, contributions: list[Contribution]) -> tuple[Contribution, ...]:
    if keep is Keep.FIRST:
        return tuple(contributions[:1])
    if keep is Keep.LAST:
        return tuple(contributions[-1:])
    if keep is Keep.PER_KEY:
        return _per_key(contributions)
    return tuple(contributions)


def _per_key(contributions: list[Contribution]) -> tuple[Contribution, ...]:
    """Environments with each key where it counts: the nearer tier wins, and inside one tier the later handler."""
    owner: dict[str, Contribution] = {}
    for contribution in contributions:
        assert isinstance(contribution.decision, Environment)
        for key in contribution.decision.variables:
            holder = owner.get(key)
            if holder is None or holder.handler.tier == contribution.handler.tier:
                owner[key] = contribution
    counted = []
    for contribution in contributions:
        assert isinstance(contribution.decision, Environment)
        mine = {key: value for key, value in contribution.decision.variables.items() if owner[key] is contribution}
        if mine:
            counted.append(Contribution(contribution.handler, Environment(mine), contribution.position))
    return tuple(counted)


class Gate(_Settled[E]):
    """Every handler must answer a clean pass; the first refusal stops, and anything else refuses."""

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        return self.settle(handler, decision)

    def failed(self, handler: Handler, error: str) -> bool:
        return self.close(handler, error)

    def outcome(self) -> Outcome[E]:
        return Outcome(self.value, self.decision, self.by, failure=self.failure)


class Notify(_Settled[E]):
    """Answers do not count, except *stop*, which spares the rest."""

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        return decision.kind is Kind.STOP

    def failed(self, handler: Handler, error: str) -> bool:
        return False

    def outcome(self) -> Outcome[E]:
        return Outcome(self.value)


_FOLDS: Final[dict[Fold, Callable[[Any], Folding[Any]]]] = {
    Fold.CHAIN: Chain,
    Fold.FIRST: First,
    Fold.GATHER: Gather,
    Fold.GATE: Gate,
    Fold.NOTIFY: Notify,
}


def folding(event: E) -> Folding[E]:
    """A fresh fold of the kind that `event` declares."""
    return _FOLDS[event.fold](event)
