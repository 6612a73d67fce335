"""Sets of handlers drawn at random, beside the slow and plain model of the rules."""

import asyncio
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.generated import Spec, cases
from tests.support.hooks import Rig, given_by
from tests.support.model import Expected, expected
from tests.support.virtual import run
from treblehook.engine import Outcome
from treblehook.lifecycle import Event


def fired(event: Event, specs: list[Spec], *, watched: bool = True, on: bool = True) -> tuple[Rig, Outcome[Event]]:
    async def main() -> tuple[Rig, Outcome[Event]]:
        rig = Rig(*(spec.handler(type(event)) for spec in specs), watched=watched, on=on)
        outcome = await rig.fire(event)
        assert await rig.background.drain(queued_seconds=1000, detached_seconds=1000) == []
        # Handlers that do not heed cancellation come to their end.
        await asyncio.sleep(1000)
        return rig, outcome

    return run(main(), collect=False)


def assert_as_expected(outcome: Outcome[Any], want: Expected) -> None:
    assert outcome.value == want.value
    assert [(c.handler.name, c.decision, c.position) for c in outcome.contributions] == list(want.contributions)
    assert (outcome.by.name if outcome.by else None) == want.by
    if want.refusals:
        assert outcome.blocked is not None
        parts = (".* hook .* failed: .*" if reason is None else re.escape(reason) for reason in want.refusals)
        assert re.fullmatch("; ".join(parts), outcome.blocked.reason)
        assert bool(outcome.failure) == (None in want.refusals)
    else:
        assert outcome.decision == want.decision
        assert outcome.failure is None


@settings(max_examples=800)
@given(cases(), st.booleans())
def test_the_outcome_and_the_journal_are_as_the_model_says(case: tuple[Event, list[Spec]], watched: bool) -> None:
    event, specs = case
    rig, outcome = fired(event, specs, watched=watched)

    want = expected(event, specs)

    assert_as_expected(outcome, want)
    assert rig.ends == list(want.ends)
    rig.check_journal()


@settings(max_examples=500)
@given(cases(timed=False, modes=False, background=False), st.booleans())
def test_plain_handlers_take_the_short_path_to_the_same_outcome(case: tuple[Event, list[Spec]], on: bool) -> None:
    event, specs = case
    plain = [Spec(spec.name, spec.tier, spec.priority, spec.act, lane=spec.lane, on_failure=spec.on_failure) for spec in specs]
    same_tier = [Spec(s.name, plain[0].tier, s.priority, s.act, lane=s.lane, on_failure=s.on_failure) for s in plain]

    for chosen in (plain, same_tier):
        rig, outcome = fired(event, chosen, watched=False, on=on)
        want = expected(event, chosen)
        assert_as_expected(outcome, want)
        assert rig.ends == (list(want.ends) if on else [])


@settings(max_examples=300)
@given(cases())
def test_the_same_handlers_give_the_same_outcome_again(case: tuple[Event, list[Spec]]) -> None:
    event, specs = case

    async def main() -> None:
        rig = Rig(*(spec.handler(type(event)) for spec in specs))
        first = await rig.fire(event)
        second = await rig.fire(event)
        assert (first.value, first.decision, given_by(first)) == (second.value, second.decision, given_by(second))
        await rig.background.drain(queued_seconds=1000, detached_seconds=1000)
        await asyncio.sleep(1000)

    run(main(), collect=False)
