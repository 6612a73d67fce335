"""Many handlers, many targets, many dispatches; and what is freed when something is over."""

import asyncio
import gc
import weakref

import pytest

from tests.support.hooks import CALL, Rig, stub
from tests.support.virtual import run, virtual
from treblehook.engine import Handler, HookFailed, Outcome, Registry, Tier
from treblehook.lifecycle import (
    Block,
    Event,
    NoteCreated,
    PreToolCall,
    Rewrite,
    ToolCall,
)

EVENT = PreToolCall(call=CALL)
PATHS = [(watched, on) for watched in (True, False) for on in (True, False)]
"""Every way through a dispatch: watched or not, journal on or off."""


@virtual
async def test_more_targets_than_are_remembered() -> None:
    rig = Rig(stub(NoteCreated, pattern="9*"), watched=False)

    for number in range(10_000):
        await rig.fire(NoteCreated(path=f"{number}", title="t"))

    assert len(rig.asked) == min(1111, rig.journal.calls.maxlen or 0)
    assert len(rig.registry._buckets[NoteCreated].plans) <= 4096


def test_removing_frees_what_the_hook_held() -> None:
    class Machine:
        pass

    registry, machine = Registry(), Machine()
    held = weakref.ref(machine)

    def bind(machine: Machine) -> Handler:
        return registry.add(stub(PreToolCall, lambda event: machine and None, pattern="one", when=lambda event: machine is not None))

    handler = bind(machine)
    run(Rig(registry=registry).fire(EVENT))
    registry.remove(handler)
    del machine
    gc.collect()

    assert held() is None
    bucket = registry._buckets[PreToolCall]
    assert not any((bucket.always, bucket.by_literal, bucket.by_prefix))


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("given", [HookFailed("exit status 1"), ValueError("broke")])
def test_a_failing_hook_leaves_no_garbage_that_only_a_collection_frees(watched: bool, given: Exception) -> None:
    class Big:
        pass

    async def main() -> "weakref.ref[Big]":
        big = Big()

        def fails(event: Event) -> None:
            raise type(given)(*given.args)

        await Rig(stub(PreToolCall, fails), watched=watched).fire(PreToolCall(call=ToolCall("c", "bash", {"big": big})))
        return weakref.ref(big)

    gc.collect()
    gc.disable()
    try:
        assert run(main(), collect=False)() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("watched", [True, False])
def test_a_session_that_is_over_is_freed_although_its_journal_knows_its_hooks(watched: bool) -> None:
    async def session() -> "weakref.ref[Rig]":
        rig = Rig(watched=watched)
        last: list[Outcome[PreToolCall]] = []
        rig.add(stub(PreToolCall, lambda event: Block(f"{len(rig.asked)} {len(last)}")))
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
async def test_one_handler_in_thousands_of_dispatches_at_once() -> None:
    async def echo(event: PreToolCall) -> Rewrite:
        await asyncio.sleep(event.call.input["n"] % 7)
        return Rewrite(input={"n": event.call.input["n"] + 1})

    rig = Rig(stub(PreToolCall, echo), stub(PreToolCall, echo, timeout=30.0, name="limited"))
    events = [PreToolCall(call=ToolCall("c", "bash", {"n": n})) for n in range(3000)]

    outcomes = await asyncio.gather(*(rig.fire(event) for event in events))

    assert [outcome.value.call.input["n"] for outcome in outcomes] == [n + 2 for n in range(3000)]
    assert len(rig.seen.finished_calls) == 6000
