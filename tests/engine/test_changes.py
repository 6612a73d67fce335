"""What a registry that changes during a dispatch means for it."""

from typing import Any

import pytest

from tests.support.hooks import CALL, Rig, stub
from tests.support.virtual import virtual
from treblehook.engine import Ended, OnFailure, Registry, Tier
from treblehook.lifecycle import (
    Block,
    Event,
    NoteCreated,
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


@pytest.mark.parametrize("pattern", ["bash", "{bash,edit}", "ba*", None])
@pytest.mark.parametrize("earlier", [None, "read", "r*"])
@pytest.mark.parametrize("at_home", [True, False])
@virtual
async def test_who_is_bound_to_a_later_tier_during_a_dispatch_is_asked_whatever_its_pattern(
    pattern: str | None, earlier: str | None, at_home: bool
) -> None:
    home = Registry()
    rig = Rig(registry=Registry(home))

    def register(event: PreToolCall) -> None:
        if event.call.name == "bash":
            (home if at_home else rig.registry).add(stub(PreToolCall, name="late", tier=Tier.PLUGIN, pattern=pattern))

    rig.add(stub(PreToolCall, register, name="first"), stub(PreToolCall, name="other", pattern=earlier))
    # What is known of other targets must not hide what is new to this one.
    await rig.fire(PreToolCall(call=ToolCall("c", "edit", {})))
    rig.journal.calls.clear()

    await rig.fire(EVENT)

    assert rig.asked == ["first", *(["other"] if earlier is None else []), "late"]


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
