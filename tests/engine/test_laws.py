"""Laws that hold for any handlers, each told by comparing two dispatches."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.generated import Spec, cases
from tests.support.hooks import CALL, Rig, given_by
from tests.support.virtual import run
from treblehook.engine import Handler, Inline, Mode, Outcome, Queued, Registry, Tier
from treblehook.lifecycle import Allow, Block, Event, Fold, PermissionRequest, Refuse, Replace

OBEYED = [fold for fold in Fold if fold is not Fold.GATE]

Told = tuple[Any, ...]


def told(outcome: Outcome[Any]) -> Told:
    """All of an outcome that a host reads, handlers by name."""
    by = outcome.by.name if outcome.by else None
    return (outcome.value, outcome.decision, by, given_by(outcome), outcome.failure)


def outcome_of(event: Event, handlers: list[Handler], registry: Registry | None = None) -> Told:
    async def main() -> Told:
        rig = Rig(*handlers, registry=registry)
        outcome = await rig.fire(event)
        await rig.background.drain(queued_seconds=1000, detached_seconds=1000)
        await asyncio.sleep(1000)
        rig.check_journal()
        return told(outcome)

    return run(main(), collect=False)


def outcome_for(event: Event, specs: list[Spec]) -> Told:
    return outcome_of(event, [spec.handler(type(event)) for spec in specs])


@settings(max_examples=200)
@given(cases(folds=OBEYED), st.sampled_from([Mode.REPORT, Mode.OFF]))
def test_a_hook_that_reports_or_is_off_changes_nothing(case: tuple[Event, list[Spec]], mode: Mode) -> None:
    event, specs = case
    turned = [replace(spec, mode=mode) if number % 2 else spec for number, spec in enumerate(specs)]
    without = [spec for spec in turned if spec.mode is Mode.ON]

    assert outcome_for(event, turned) == outcome_for(event, without)


@settings(max_examples=200)
@given(cases(timed=False), st.lists(st.sampled_from([0, 1, 2, 3]), min_size=8, max_size=8))
def test_the_outcome_does_not_depend_on_how_long_anybody_takes(case: tuple[Event, list[Spec]], delays: list[int]) -> None:
    event, specs = case
    slowed = [replace(spec, delay=delay) for spec, delay in zip(specs, delays, strict=False)]

    assert outcome_for(event, slowed) == outcome_for(event, specs)


@settings(max_examples=200)
@given(cases(), st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_session_laid_over_its_home_is_one_flat_registry(case: tuple[Event, list[Spec]], at_home: list[bool]) -> None:
    event, specs = case
    home = Registry()
    session = Registry(home)
    for spec, below in zip(specs, at_home, strict=False):
        (home if below else session).add(spec.handler(type(event)))

    assert outcome_of(event, [], session) == outcome_for(event, specs)
    assert [handler.name for handler in session.handlers()] == [
        spec.name for _, spec in sorted(enumerate(specs), key=lambda pair: (pair[1].tier, pair[1].priority, pair[0]))
    ]


@settings(max_examples=200)
@given(cases())
def test_nothing_that_comes_later_undoes_a_block(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case
    ordered = [spec for _, spec in sorted(enumerate(specs), key=lambda pair: (pair[1].tier, pair[1].priority, pair[0]))]
    for cut in range(len(ordered) + 1):
        outcome = outcome_for(event, ordered[:cut])
        if isinstance(outcome[1], Block | Refuse):
            decision, contributions = outcome_for(event, ordered)[1], outcome_for(event, ordered)[3]
            assert isinstance(decision, Block | Refuse)
            assert decision.reason.startswith(outcome[1].reason)
            assert contributions == []
            break


@settings(max_examples=200)
@given(cases(folds=[Fold.CHAIN, Fold.GATE, Fold.FIRST]))
def test_a_terminal_decision_ends_the_dispatch(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case

    async def main() -> None:
        rig = Rig(*(spec.handler(type(event)) for spec in specs))
        outcome = await rig.fire(event)
        if outcome.decision is not None:
            assert isinstance(outcome.decision, Replace | Block | Refuse) or event.fold is Fold.FIRST
            assert outcome.by is rig.journal.calls[-1].handler
        await asyncio.sleep(1000)

    run(main(), collect=False)


@settings(max_examples=200)
@given(cases(folds=[Fold.GATHER, Fold.NOTIFY]))
def test_what_nobody_waits_for_changes_nothing(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case
    awaited = [spec for spec in specs if isinstance(spec.delivery, Inline)]

    assert outcome_for(event, specs) == outcome_for(event, awaited)


@settings(max_examples=200)
@given(cases(timed=False))
def test_gates_alone_are_left_of_a_bare_session(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case
    bare = Registry(gates_only=True)
    handlers = [spec.handler(type(event)) for spec in specs]

    assert outcome_of(event, handlers, bare) == outcome_for(event, specs if event.fold is Fold.GATE else [])


@settings(max_examples=100)
@given(cases(timed=False, modes=False))
def test_a_queue_that_drops_and_one_that_makes_wait_tell_the_same_when_there_is_room(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case
    blocking = [replace(spec, delivery=Queued(overflow="block")) if isinstance(spec.delivery, Queued) else spec for spec in specs]

    assert outcome_for(event, blocking) == outcome_for(event, specs)


def test_a_pass_is_not_an_allow() -> None:
    event = PermissionRequest(call=CALL)

    assert outcome_for(event, [Spec("passes", Tier.SESSION, 1, None)])[1] is None
    assert outcome_for(event, [Spec("passes", Tier.SESSION, 1, None), Spec("allows", Tier.SESSION, 2, Allow())])[1] == Allow()
