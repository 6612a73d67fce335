"""Who is asked, in which order, and what a registry that changes during a dispatch means for it."""

import asyncio
import gc
import random
import weakref
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.hooks import CALL, Rig, after, stub
from tests.support.virtual import run, virtual
from treblehook.engine import BindError, Ended, Handler, Mode, OnFailure, Outcome, Registry, Tier
from treblehook.lifecycle import (
    Allow,
    Block,
    Event,
    ModelResponse,
    NoteCreated,
    PermissionRequest,
    PreToolCall,
    Refuse,
    Rewrite,
    ToolCall,
    ToolGate,
)

EVENT = PreToolCall(call=CALL)
PATHS = [(watched, on) for watched in (True, False) for on in (True, False)]
"""Every way through a dispatch: watched or not, journal on or off."""


def asks(asked: list[str], name: str, then: Any = None) -> Any:
    def ask(event: Event) -> Any:
        asked.append(name)
        return then(event) if callable(then) else then

    return ask


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


@pytest.mark.parametrize(("watched", "on"), PATHS)
@pytest.mark.parametrize("victims", [["b"], ["c"], ["b", "c"], ["c", "b"], ["a"], ["d"], ["b", "c", "d"]])
@virtual
async def test_who_is_removed_during_a_dispatch_is_skipped(watched: bool, on: bool, victims: list[str]) -> None:
    asked: list[str] = []

    def remove(event: Event) -> None:
        for name in victims:
            rig.registry.remove(handlers[name])

    handlers = {name: stub(PreToolCall, asks(asked, name, remove if name == "a" else None), name=name) for name in "abcd"}
    rig = Rig(*handlers.values(), watched=watched, on=on)

    await rig.fire(EVENT)

    assert asked == ["a", *(name for name in "bcd" if name not in victims)]
    assert rig.asked == (asked if on else [])
    rig.check_journal()


@pytest.mark.parametrize(("watched", "on"), PATHS)
@pytest.mark.parametrize("result", [Block("no"), ValueError("its machine is gone"), None])
@virtual
async def test_who_is_removed_while_it_is_asked_counts_as_having_passed(watched: bool, on: bool, result: Any) -> None:
    def leave(event: Event) -> Any:
        rig.registry.remove(handler)
        return result

    handler = stub(PreToolCall, leave, on_failure=OnFailure.CLOSED)
    rig = Rig(handler, stub(PreToolCall, Rewrite(input={}), name="next"), watched=watched, on=on)

    outcome = await rig.fire(EVENT)

    assert outcome.decision is None
    assert outcome.value.call.input == {}
    rig.check_journal()


@virtual
async def test_the_answer_of_a_hook_that_was_removed_meanwhile_is_journalled_as_not_obeyed() -> None:
    def leave(event: Event) -> Block:
        rig.registry.remove(handler)
        return Block("no")

    handler = stub(PreToolCall, leave)
    rig = Rig(handler)

    await rig.fire(EVENT)

    call = rig.journal.calls[0]
    assert (call.ended, call.decision, call.error) == (Ended.ANSWERED, Block("no"), "was removed while it was asked: not obeyed")


@pytest.mark.parametrize(("watched", "on"), PATHS)
@pytest.mark.parametrize("result", [Refuse("no"), ValueError("gone")])
@virtual
async def test_a_gate_that_is_removed_while_it_is_asked_still_refuses(watched: bool, on: bool, result: Any) -> None:
    def leave(event: Event) -> Any:
        rig.registry.remove(handler)
        return result

    handler = stub(ToolGate, leave)
    rig = Rig(handler, watched=watched, on=on)

    assert (await rig.fire(ToolGate(call=CALL, input_json="{}"))).blocked


@pytest.mark.parametrize(("watched", "on"), PATHS)
@virtual
async def test_the_list_of_a_tier_is_taken_when_the_dispatch_reaches_it(watched: bool, on: bool) -> None:
    asked: list[str] = []

    def register(event: Event) -> None:
        if len(rig.registry.handlers()) == 2:
            for name, tier, priority in (("same tier", Tier.SESSION, 900), ("earlier", Tier.CONFIG, 1), ("later", Tier.PLUGIN, 1)):
                rig.add(stub(PreToolCall, asks(asked, name), name=name, tier=tier, priority=priority))

    rig = Rig(
        stub(PreToolCall, asks(asked, "session", register), name="session"),
        stub(PreToolCall, asks(asked, "session too"), name="session too"),
        watched=watched,
        on=on,
    )

    await rig.fire(EVENT)
    assert asked == ["session", "session too", "later"]

    asked.clear()
    await rig.fire(EVENT)
    assert asked == ["earlier", "session", "session too", "same tier", "later"]


@virtual
async def test_a_plugin_that_reloads_during_a_dispatch_denies_nothing_and_is_asked_anew_next_time() -> None:
    asked: list[str] = []
    old = [stub(PreToolCall, asks(asked, f"old {n}"), name=f"old {n}", tier=Tier.PLUGIN, on_failure=OnFailure.CLOSED) for n in (1, 2)]

    def reload(event: Event) -> None:
        if not rig.registry.handlers()[1].name.startswith("new"):
            for handler in old:
                rig.registry.remove(handler)
            for n in (1, 2):
                rig.add(stub(PreToolCall, asks(asked, f"new {n}"), name=f"new {n}", tier=Tier.PLUGIN))

    rig = Rig(stub(PreToolCall, reload, name="reloads"), *old)

    assert (await rig.fire(EVENT)).decision is None
    assert asked == ["new 1", "new 2"]


@virtual
async def test_a_condition_that_removes_its_own_handler_is_not_asked() -> None:
    def leave(event: Event) -> bool:
        rig.registry.remove(handler)
        return True

    handler = stub(PreToolCall, Block("no"), when=leave)
    rig = Rig(handler)

    assert (await rig.fire(EVENT)).decision is None
    assert rig.asked == []


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


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "fire", "add at home"]), st.integers(0, 30)), max_size=40))
def test_whatever_was_added_and_removed_those_that_match_are_asked(steps: list[tuple[str, int]]) -> None:
    patterns = [None, "bash", "read", "b*", "*", "{bash,read}", "!bash", "re*", "**", ""]

    async def main() -> None:
        home = Registry()
        rig = Rig(registry=Registry(home))
        bound: list[tuple[Registry, Handler]] = []
        for step, number in steps:
            if step == "fire":
                rig.journal.calls.clear()
                target = TARGETS[number % len(TARGETS)]
                await rig.fire(PreToolCall(call=ToolCall("c", target, {})))
                assert rig.asked == [h.name for _, h in bound if h.pattern is None or h.pattern.matches(target)]
            elif step == "remove":
                if bound:
                    registry, handler = bound.pop(number % len(bound))
                    registry.remove(handler)
            else:
                registry = home if step == "add at home" else rig.registry
                handler = stub(PreToolCall, name=f"{len(bound)}-{number}", pattern=patterns[number % len(patterns)])
                bound.append((registry, registry.add(handler)))

    run(main(), collect=False)


@virtual
async def test_more_targets_than_are_remembered() -> None:
    rig = Rig(stub(NoteCreated, pattern="9*"), watched=False)

    for number in range(10_000):
        await rig.fire(NoteCreated(path=f"{number}", title="t"))

    assert len(rig.asked) == min(1111, rig.journal.calls.maxlen or 0)
    assert len(rig.registry._buckets[NoteCreated].plans) <= 4096


@pytest.mark.parametrize("on", [True, False])
@virtual
async def test_a_dispatch_whose_plan_was_forgotten_meanwhile_still_skips_who_is_removed(on: bool) -> None:
    asked: list[str] = []

    async def crowd(event: NoteCreated) -> None:
        if event.path == "a":
            for number in range(5000):
                await rig.fire(NoteCreated(path=f"{number}", title="t"))
            rig.registry.remove(victim)

    victim = stub(NoteCreated, asks(asked, "victim"), pattern="a*")
    rig = Rig(stub(NoteCreated, crowd), victim, watched=False, on=on)

    await rig.fire(NoteCreated(path="a", title="t"))

    assert asked == []


def test_removing_frees_what_the_hook_held() -> None:
    class Machine:
        pass

    registry, machine = Registry(), Machine()
    held = weakref.ref(machine)

    def bind(machine: Machine) -> Handler:
        return registry.add(stub(PreToolCall, lambda event: machine and None, pattern="one"))

    handler = bind(machine)
    run(Rig(registry=registry).fire(EVENT))
    registry.remove(handler)
    del machine
    gc.collect()

    assert held() is None
    bucket = registry._buckets[PreToolCall]
    assert not any((bucket.always, bucket.by_literal, bucket.by_prefix))


@pytest.mark.parametrize("watched", [True, False])
def test_a_session_that_is_over_is_freed_although_its_journal_knows_its_hooks(watched: bool) -> None:
    async def session() -> "weakref.ref[Rig]":
        rig = Rig(watched=watched)
        last: list[Outcome[PreToolCall]] = []
        rig.add(stub(PreToolCall, lambda event: rig and last and None), stub(PreToolCall, Block("no")))
        last.append(await rig.fire(EVENT))
        return weakref.ref(rig)

    gone = run(session())
    gc.collect()

    assert gone() is None


@virtual
async def test_a_closed_session_leaves_nothing_at_home() -> None:
    home = Registry()
    home.add(stub(PreToolCall, tier=Tier.PLUGIN))
    for _ in range(50):
        rig = Rig(stub(PreToolCall), registry=Registry(home))
        await rig.fire(EVENT)
    del rig
    gc.collect()

    assert len(home._buckets[PreToolCall].leaning) == 0


@virtual
async def test_a_hundred_thousand_handlers_of_which_a_few_match() -> None:
    kinds = [lambda n: f"tool-{n}", lambda n: f"server-{n}/*", lambda n: f"{{a{n},b{n}}}", lambda n: f"x{n}?"]
    rig = Rig(*(stub(PreToolCall, name=str(number), pattern=kinds[number % 4](number)) for number in range(100_000)))

    for target, name in (("tool-4000", "4000"), ("server-77/list", "77"), ("b402", "402"), ("x3y", "3")):
        await rig.fire(PreToolCall(call=ToolCall("c", target, {})))
        assert rig.asked == [name]
        rig.journal.calls.clear()
    assert len(rig.registry.handlers()) == 100_000


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


@virtual
async def test_one_handler_in_thousands_of_dispatches_at_once() -> None:
    async def echo(event: PreToolCall) -> Rewrite:
        await asyncio.sleep(event.call.input["n"] % 7)
        return Rewrite(input={"n": event.call.input["n"] + 1})

    rig = Rig(stub(PreToolCall, echo), stub(PreToolCall, echo, timeout=30.0, name="limited"))
    events = [PreToolCall(call=ToolCall("c", "bash", {"n": n})) for n in range(3000)]

    outcomes = await asyncio.gather(*(rig.fire(event) for event in events))

    assert [outcome.value.call.input["n"] for outcome in outcomes] == [n + 2 for n in range(3000)]
    assert len(rig.seen.finished_calls) == 6000
