"""The five folds: how the answers of one dispatch become one outcome (design, section 4).

Each is the state of one dispatch: `take` a decision or a `failure`, say whether to stop, then give the `outcome`.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar

from msgspec.structs import replace

from treblehook.engine.handler import Handler, Lane, OnFailure
from treblehook.engine.outcome import Contribution, Outcome
from treblehook.lifecycle import AddContext, Block, Decision, Environment, Event, Fold, Keep, Refuse, Rewrite
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
    """What the folds share: a value, the decision that settles it, what rides along, and lanes that gave up."""

    def __init__(self, event: E) -> None:
        self.value = event
        self._decision: Decision | None = None
        self._by: Handler | None = None
        self._failure: str | None = None
        self._contributions: list[Contribution] = []
        self._aborted: set[str] = set()

    def _settle(self, handler: Handler, decision: Decision, failure: str | None = None) -> bool:
        self._decision, self._by, self._failure = decision, handler, failure
        return True

    def _add(self, handler: Handler, decision: Decision | None, position: int) -> None:
        """Let `decision` ride along; context without text adds nothing."""
        if decision is not None and not (isinstance(decision, AddContext) and not decision.text):
            self._contributions.append(Contribution(handler, decision, position))

    def _abort(self, handler: Handler) -> None:
        """The lane of `handler` gives up: what it contributed is dropped, and who is left of it is skipped."""
        self._contributions = [c for c in self._contributions if not _in(handler.lane, c.handler)]
        if handler.lane is not None:
            self._aborted.add(handler.lane.name)

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is OnFailure.CLOSED:
            return self._settle(handler, _strictest(handler, error), error)
        if handler.on_failure is OnFailure.ABORT:
            self._abort(handler)
        return False

    def skips(self, handler: Handler) -> bool:
        return bool(self._aborted) and handler.lane is not None and handler.lane.name in self._aborted

    def outcome(self) -> Outcome[E]:
        return Outcome(self.value, self._decision, self._by, tuple(self._contributions), self._failure)


def _strictest(handler: Handler, error: str) -> Block | Refuse:
    """What the failure of a closed `handler` counts as."""
    decision = handler.event.strictest(f"{handler.origin.event} hook {handler.name} failed: {error}")
    assert decision is not None, "binding a closed handler here was refused"
    return decision


def _in(lane: Lane | None, handler: Handler) -> bool:
    return lane is not None and handler.lane is not None and handler.lane.name == lane.name


class Chain(_Settled[E]):
    """One after the other; each sees what the one before made."""

    def __init__(self, event: E) -> None:
        super().__init__(event)
        self._fired = event
        self._steps: list[tuple[Handler, Rewrite]] = []

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        if isinstance(decision, Rewrite):
            self.value = self.value.rewritten(decision)
            self._steps.append((handler, decision))
            self._add(handler, decision.context, position)
            return False
        if decision.kind is Kind.CONTRIBUTION:
            self._add(handler, decision, position)
            return False
        if decision.kind is Kind.REFUSAL:
            self._contributions.clear()
        return self._settle(handler, decision)

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is not OnFailure.OPEN:
            self._undo(handler.lane)
        if handler.on_failure is OnFailure.CLOSED:
            self._contributions.clear()
        return super().failed(handler, error)

    def _undo(self, lane: Lane | None) -> None:
        """Return the value to what entered `lane`; what other lanes made of it stands."""
        self._steps = [step for step in self._steps if not _in(lane, step[0])]
        self.value = self._fired
        for _, rewrite in self._steps:
            self.value = self.value.rewritten(rewrite)


class First(_Settled[E]):
    """The first usable decision wins and stops."""

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        return self._settle(handler, decision)


class Gather(_Settled[E]):
    """All are asked, a refusal notwithstanding; the event declares which contribution counts.

    Several refusals become one that gives all their reasons, by the handler that refused first.
    """

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        if isinstance(decision, Block | Refuse):
            self._refuse(handler, decision, None)
        else:
            self._add(handler, decision, position)
        return False

    def failed(self, handler: Handler, error: str) -> bool:
        if handler.on_failure is not OnFailure.CLOSED:
            return super().failed(handler, error)
        self._refuse(handler, _strictest(handler, error), error)
        return False

    def _refuse(self, handler: Handler, decision: Block | Refuse, failure: str | None) -> None:
        if not isinstance(self._decision, Block | Refuse):
            self._settle(handler, decision, failure)
            return
        self._decision = replace(self._decision, reason=f"{self._decision.reason}; {decision.reason}")
        self._failure = "; ".join(filter(None, (self._failure, failure))) or None

    def outcome(self) -> Outcome[E]:
        counted = () if self._decision is not None else _counted(self.value.keep, self._contributions)
        return Outcome(self.value, self._decision, self._by, counted, self._failure)


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
        return self._settle(handler, decision)

    def failed(self, handler: Handler, error: str) -> bool:
        return self._settle(handler, _strictest(handler, error), error)


class Notify(_Settled[E]):
    """Answers do not count, except *stop*, which spares the rest."""

    def take(self, handler: Handler, decision: Decision, position: int) -> bool:
        return decision.kind is Kind.STOP


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
