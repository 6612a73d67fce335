"""The rules of design section 4 once more, written down as slowly and plainly as possible.

One pass over the handlers makes a log; what stops, who is skipped and what comes out are questions to the whole log.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from msgspec import Struct

from tests.support.generated import Spec
from treblehook.engine import (
    Answer,
    Ended,
    HookNotStarted,
    HookTimedOut,
    Inline,
    Mode,
    OnFailure,
    Queued,
)
from treblehook.engine.patterns import Pattern
from treblehook.lifecycle import AddContext, Block, Decision, Environment, Event, Fold, Keep, Refuse, Rewrite, Stop


class Expected(Struct):
    """What must come out of a dispatch. `refusals` holds the reasons given, None for each that a failure made."""

    value: Event
    decision: Decision | None = None
    refusals: tuple[str | None, ...] = ()
    by: str | None = None
    contributions: tuple[tuple[str, Decision, int], ...] = ()
    ends: tuple[tuple[str, Ended], ...] = ()


class Entry(Struct, frozen=True):
    """One handler that was asked inline, with its decision, None for a pass, or the failure."""

    spec: Spec
    position: int
    said: Decision | Ended | None

    @property
    def failed(self) -> bool:
        return isinstance(self.said, Ended)

    @property
    def lane(self) -> str | None:
        return self.spec.lane.name if self.spec.lane else None


def expected(event: Event, specs: list[Spec]) -> Expected:
    """What firing `event` at `specs` (in the order of registration) must come to."""
    numbered = sorted(enumerate(specs), key=lambda pair: (pair[1].tier, pair[1].priority, pair[0]))
    plan = [spec for _, spec in numbered if spec.mode is not Mode.OFF and _matches(spec, event)]
    log: list[Entry] = []
    ends: list[tuple[str, Ended]] = []
    queued: list[tuple[str, Ended]] = []
    spent: dict[str, float] = {}
    for position, spec in enumerate(plan, 1):
        if spec.when is False or (event.fold is not Fold.GATE and spec.lane is not None and spec.lane.name in _gave_up(log)):
            continue
        broken = isinstance(spec.when, Exception)
        said, took = (Ended.FAILED, 0.0) if broken else _call(spec, event, spent)
        end = said if isinstance(said, Ended) else Ended.PASSED if said is None else Ended.ANSWERED
        (queued if isinstance(spec.delivery, Queued) and not broken else ends).append((spec.name, end))
        if spec.mode is Mode.REPORT or not isinstance(spec.delivery, Inline):
            continue
        if spec.lane is not None:
            spent[spec.lane.name] = spent.get(spec.lane.name, 0.0) + took
        log.append(Entry(spec, position, said))
        if _stops(event, log):
            break
    result = _FOLDS[event.fold](event, log)
    result.ends = tuple(ends + queued)
    return result


def _matches(spec: Spec, event: Event) -> bool:
    return spec.pattern is None or Pattern(spec.pattern).matches(event.target if event.targeted else None)


def _call(spec: Spec, event: Event, spent: dict[str, float]) -> tuple[Decision | Ended | None, float]:
    """What one call says, and how long the dispatch waits for it."""
    limits = [] if spec.timeout is None else [spec.timeout]
    if spec.lane is not None and spec.lane.seconds is not None and isinstance(spec.delivery, Inline):
        limits.append(spec.lane.seconds - (0.0 if spec.mode is Mode.REPORT else spent.get(spec.lane.name, 0.0)))
    limit = min(limits, default=float("inf"))
    if limit <= 0:
        return Ended.TIMED_OUT, 0.0
    if spec.delay > limit and not spec.blocks:
        return Ended.TIMED_OUT, limit
    if isinstance(spec.act, BaseException):
        if isinstance(spec.act, HookTimedOut):
            return Ended.TIMED_OUT, spec.delay
        return (Ended.NOT_STARTED if isinstance(spec.act, HookNotStarted) else Ended.FAILED), spec.delay
    if spec.delay > limit:
        return Ended.TIMED_OUT, spec.delay
    decision = spec.act.decision if isinstance(spec.act, Answer) else spec.act
    usable = decision is None or isinstance(decision, event.accepts)
    blank = event.fold is Fold.GATE and isinstance(decision, Refuse) and not decision.reason.strip()
    return (decision if usable and not blank else Ended.FAILED), spec.delay


def _gave_up(log: list[Entry]) -> set[str]:
    return {entry.lane for entry in log if entry.failed and entry.spec.on_failure is OnFailure.ABORT and entry.lane}


def _stops(event: Event, log: list[Entry]) -> bool:
    entry = log[-1]
    closed = entry.failed and entry.spec.on_failure is OnFailure.CLOSED
    match event.fold:
        case Fold.CHAIN:
            return closed or (isinstance(entry.said, Decision) and not isinstance(entry.said, Rewrite | AddContext))
        case Fold.FIRST:
            return closed or isinstance(entry.said, Decision)
        case Fold.GATHER:
            return False
        case Fold.GATE:
            return entry.said is not None
        case Fold.NOTIFY:
            return isinstance(entry.said, Stop)


def _settled(entry: Entry) -> dict[str, Any]:
    """The fields that a refusal or another terminal decision fills in."""
    decision = None if entry.failed else entry.said
    reason = decision.reason if isinstance(decision, Block | Refuse) else None
    return {"decision": decision, "refusals": (reason,) if entry.failed or reason is not None else (), "by": entry.spec.name}


def _chain(event: Event, log: list[Entry]) -> Expected:
    last = log[-1] if log and _stops(event, log) else None
    undone = _gave_up(log) | ({last.lane} if last is not None and last.failed and last.lane else set())
    standing = [entry for entry in log if entry.lane not in undone]
    rewrites = [entry.said for entry in standing if isinstance(entry.said, Rewrite)]
    value = reduce(lambda value, rewrite: value.rewritten(rewrite), rewrites, event)
    result = Expected(value, **(_settled(last) if last is not None else {}))
    if not result.refusals:
        result.contributions = tuple(
            (entry.spec.name, context, entry.position) for entry in standing if (context := _context(entry.said)) is not None
        )
    return result


def _context(said: Any) -> AddContext | None:
    context = said.context if isinstance(said, Rewrite) else said
    return context if isinstance(context, AddContext) and context.text else None


def _first(event: Event, log: list[Entry]) -> Expected:
    return Expected(event, **(_settled(log[-1]) if log and _stops(event, log) else {}))


def _gather(event: Event, log: list[Entry]) -> Expected:
    refusing = [
        entry for entry in log if isinstance(entry.said, Block | Refuse) or (entry.failed and entry.spec.on_failure is OnFailure.CLOSED)
    ]
    if refusing:
        reasons = tuple(reason for entry in refusing for reason in _settled(entry)["refusals"])
        return Expected(event, None, reasons, refusing[0].spec.name)
    undone = _gave_up(log)
    given = [
        (entry.spec, entry.said, entry.position)
        for entry in log
        if isinstance(entry.said, Decision) and entry.lane not in undone and entry.said != AddContext("")
    ]
    if event.keep is Keep.PER_KEY:
        given = _per_key(given)
    counted = {Keep.FIRST: given[:1], Keep.LAST: given[-1:]}.get(event.keep, given)
    return Expected(event, contributions=tuple((spec.name, said, position) for spec, said, position in counted))


def _per_key(given: list[tuple[Spec, Any, int]]) -> list[tuple[Spec, Any, int]]:
    """For each key: among the nearest tier that sets it, the last."""
    kept = []
    for index, (spec, said, position) in enumerate(given):
        mine = {}
        for key, value in said.variables.items():
            rivals = [(other, at) for at, (other, theirs, _) in enumerate(given) if key in theirs.variables]
            nearest = min(other.tier for other, _ in rivals)
            if index == max(at for other, at in rivals if other.tier == nearest):
                mine[key] = value
        if mine:
            kept.append((spec, Environment(mine), position))
    return kept


def _notify(event: Event, log: list[Entry]) -> Expected:
    return Expected(event)


_FOLDS: dict[Fold, Callable[[Event, list[Entry]], Expected]] = {
    Fold.CHAIN: _chain,
    Fold.FIRST: _first,
    Fold.GATHER: _gather,
    Fold.GATE: _first,
    Fold.NOTIFY: _notify,
}
