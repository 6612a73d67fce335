"""Who is asked, and in which order."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.hooks import CALL, Rig, after, stub
from tests.support.virtual import run, virtual
from treblehook.engine import BindError, Ended, Handler, Mode, Registry, Tier
from treblehook.lifecycle import (
    Allow,
    Block,
    ModelResponse,
    PermissionRequest,
    PreToolCall,
    ToolCall,
    ToolGate,
)

EVENT = PreToolCall(call=CALL)
PATHS = [(watched, on) for watched in (True, False) for on in (True, False)]
"""Every way through a dispatch: watched or not, journal on or off."""


@virtual
async def test_order_is_tier_then_priority_then_registration() -> None:
    places = [(tier, priority) for tier in Tier for priority in (-5, 0, 100)] * 2
    random.Random(7).shuffle(places)
    rig = Rig(*(stub(PreToolCall, name=f"{number}", tier=tier, priority=priority) for number, (tier, priority) in enumerate(places)))

    await rig.fire(EVENT)

    assert rig.asked == [str(number) for number, place in sorted(enumerate(places), key=lambda pair: (pair[1], pair[0]))]


@virtual
async def test_an_event_reaches_its_own_kind_only() -> None:
    rig = Rig(stub(PreToolCall, name="a"), stub(PermissionRequest, name="b"))

    await rig.fire(PermissionRequest(call=CALL))

    assert rig.asked == ["b"]


@virtual
async def test_a_handler_is_bound_once_and_removed_where_it_was_bound() -> None:
    home, handler = Registry(), stub(PreToolCall, name="guard")
    home.add(handler)

    with pytest.raises(BindError, match="'guard' cannot be bound to PreToolCall: this handler has been bound already"):
        home.add(handler)
    with pytest.raises(KeyError):
        Registry(home).remove(handler)
    home.remove(handler)
    with pytest.raises(KeyError):
        home.remove(handler)
    assert home.handlers() == []


@virtual
async def test_a_session_is_laid_over_its_home_and_neither_sees_anothers() -> None:
    home = Registry()
    first, second = Rig(registry=Registry(home)), Rig(registry=Registry(home))
    home.add(stub(PreToolCall, name="home", tier=Tier.PLUGIN))
    first.add(stub(PreToolCall, name="first's"))
    second.add(stub(PreToolCall, name="second's"))

    await first.fire(EVENT)
    await second.fire(EVENT)

    assert first.asked == ["first's", "home"]
    assert second.asked == ["second's", "home"]


@virtual
async def test_what_changes_at_home_reaches_open_sessions() -> None:
    home = Registry()
    rig = Rig(registry=Registry(home))
    early = home.add(stub(PreToolCall, name="early", tier=Tier.PLUGIN))
    await rig.fire(EVENT)

    home.remove(early)
    home.add(stub(PreToolCall, name="late", tier=Tier.PLUGIN, pattern="ba*"))
    await rig.fire(EVENT)
    await rig.fire(PreToolCall(call=ToolCall("c", "read", {})))

    assert rig.asked == ["early", "late"]


@virtual
async def test_off_is_not_asked_but_listed() -> None:
    rig = Rig(stub(PreToolCall, Block("no"), mode=Mode.OFF))

    assert (await rig.fire(EVENT)).decision is None
    assert rig.asked == []
    assert len(rig.registry.handlers()) == 1


@virtual
async def test_a_hook_in_report_mode_is_journalled_and_not_obeyed() -> None:
    rig = Rig(stub(PreToolCall, Block("no"), mode=Mode.REPORT), stub(PreToolCall, ValueError("x"), mode=Mode.REPORT, name="breaks"))

    assert (await rig.fire(EVENT)).decision is None
    assert rig.ends == [("hook", Ended.ANSWERED), ("breaks", Ended.FAILED)]
    assert rig.journal.calls[0].decision == Block("no")


def test_listening() -> None:
    home = Registry()
    session = Registry(home)
    bare = Registry(home, gates_only=True)
    assert not session.listens(ModelResponse)

    home.add(stub(ModelResponse, mode=Mode.OFF))
    assert not session.listens(ModelResponse)
    home.add(stub(ModelResponse, tier=Tier.PLUGIN))
    home.add(stub(ToolGate))

    assert session.listens(ModelResponse)
    assert not bare.listens(ModelResponse)
    assert bare.listens(ToolGate)
    assert not session.listens(PreToolCall)


TARGETS = ["bash", "read", "rebash", "x/y", ""]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(["add", "add at home", "remove"]), st.integers(0, 30)), max_size=20))
def test_whatever_was_added_and_removed_those_that_match_are_asked(steps: list[tuple[str, int]]) -> None:
    patterns = [None, "bash", "read", "b*", "*", "{bash,read}", "{b*,bash}", "!bash", "re*", "**", ""]

    async def main() -> None:
        home = Registry()
        rig = Rig(registry=Registry(home))
        bound: list[tuple[Registry, Handler]] = []
        for step, number in steps:
            if step != "remove":
                registry = home if step == "add at home" else rig.registry
                handler = stub(PreToolCall, name=f"{len(bound)}-{number}", pattern=patterns[number % len(patterns)])
                bound.append((registry, registry.add(handler)))
            elif bound:
                registry, handler = bound.pop(number % len(bound))
                registry.remove(handler)
            for target in TARGETS:
                rig.journal.calls.clear()
                await rig.fire(PreToolCall(call=ToolCall("c", target, {})))
                assert rig.asked == [h.name for _, h in bound if h.pattern is None or h.pattern.matches(target)]

    run(main(), collect=False)


@virtual
async def test_an_event_without_handlers_is_its_own_outcome() -> None:
    rig = Rig(stub(PreToolCall))
    event = PermissionRequest(call=CALL)

    outcome = await rig.fire(event)

    assert (outcome.value, outcome.decision, outcome.contributions) == (event, None, ())


@virtual
async def test_handlers_may_fire_events_themselves() -> None:
    async def consult(event: PreToolCall) -> Block | None:
        inner = await rig.fire(PermissionRequest(call=event.call))
        return None if inner.decision == Allow() else Block("not allowed")

    rig = Rig(stub(PreToolCall, consult), stub(PermissionRequest, after(1, Allow()), name="inner", timeout=5.0))

    assert (await rig.fire(EVENT)).decision is None
    assert rig.asked == ["hook", "inner"]
    rig.check_journal()
