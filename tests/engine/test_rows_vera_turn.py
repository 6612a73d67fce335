"""vera's rows of a session and a turn (vera.md 3.3 to 3.11), played by stub handlers bound as that contract binds its own."""

import asyncio
from typing import Any

import pytest

from tests.support.contract_stubs import VERA_FAILURES, cfg, ext, fired
from tests.support.hooks import CALL, Rig, after, deaf, given_by, stub
from tests.support.virtual import now, virtual
from treblehook.engine import DETACHED, BindError, Ended, HookFailed, Lane, OnFailure, Registry, Tier
from treblehook.lifecycle import (
    AddContext,
    Block,
    CompactionStarting,
    Continue,
    Event,
    PromptSubmitted,
    Rewrite,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolFinished,
    ToolProposed,
    TurnComplete,
    TurnEnding,
)

CALLED = ToolProposed(call=CALL)
FINISHED = ToolFinished(call=CALL, content="original")
PROMPT = PromptSubmitted(prompt="p", model="m", tools=("read", "bash", "process"))
ENDING = TurnEnding(prompt="p", reply="r")


async def end_of_the_deaf() -> None:
    await asyncio.sleep(31)


# session_start


@virtual
async def test_case_076_080_start_hooks_do_not_depend_on_each_other() -> None:
    outcome, rig = await fired(
        SessionStart(),
        cfg(SessionStart, AddContext("one"), name="1"),
        cfg(SessionStart, name="2"),
        cfg(SessionStart, after(61), timeout=60.0, name="3"),
        ext(SessionStart, Block("x"), name="4"),
        ext(SessionStart, AddContext(""), name="5"),
        ext(SessionStart, AddContext("six"), name="6"),
    )
    assert [(c.handler.name, c.position) for c in outcome.contributions] == [("1", 1), ("6", 6)]
    assert outcome.blocked is None
    assert [call.handler.name for call in rig.journal.calls if call.ended in (Ended.FAILED, Ended.TIMED_OUT)] == ["3", "4"]


# pre_turn


@virtual
async def test_case_084_contexts_are_collected_in_order() -> None:
    outcome, _ = await fired(
        PROMPT, cfg(PromptSubmitted, AddContext("a", "Spotted")), ext(PromptSubmitted, Rewrite(model="n", context=AddContext("b")))
    )
    assert [decision for _, decision in given_by(outcome)] == [AddContext("a", "Spotted"), AddContext("b")]
    assert outcome.value.model == "n"


@virtual
async def test_case_089_a_block_drops_the_context_of_its_chain() -> None:
    outcome, _ = await fired(PROMPT, cfg(PromptSubmitted, AddContext("a")), cfg(PromptSubmitted, Block("no")))
    assert (outcome.blocked, outcome.contributions) == (Block("no"), ())


NARROWED = [
    (("read",), ("read",)),
    (("read", "write"), ("read",)),
    ((), ()),
    (("bash",), ("bash", "process")),
    (("write",), ("read", "bash", "process")),
]


@pytest.mark.parametrize(("wanted", "offered"), NARROWED)
@virtual
async def test_case_090_094_tools_are_narrowed(wanted: tuple[str, ...], offered: tuple[str, ...]) -> None:
    outcome, _ = await fired(PROMPT, cfg(PromptSubmitted, Rewrite(tools=wanted)))
    assert outcome.value.tools == offered


@virtual
async def test_later_hooks_see_narrower_tools_and_can_add_none() -> None:
    outcome, _ = await fired(PROMPT, cfg(PromptSubmitted, Rewrite(tools=("bash",))), ext(PromptSubmitted, Rewrite(tools=("bash", "read"))))
    assert outcome.value.tools == ("bash", "process")


@virtual
async def test_case_098_a_joining_message_keeps_model_and_effort() -> None:
    joined = PromptSubmitted(prompt="p", model="m", effort="low", tools=("read",), joined=True)
    outcome, _ = await fired(joined, cfg(PromptSubmitted, Rewrite(model="n", effort="high", tools=(), context=AddContext("x"))))
    assert (outcome.value.model, outcome.value.effort, outcome.value.tools) == ("m", "low", ())
    assert [decision for _, decision in given_by(outcome)] == [AddContext("x")]


@pytest.mark.parametrize("failure", VERA_FAILURES)
@virtual
async def test_case_102_a_failing_entry_blocks_the_message_and_a_failing_extension_is_ignored(failure: str) -> None:
    outcome, _ = await fired(PROMPT, cfg(PromptSubmitted, AddContext("x")), cfg(PromptSubmitted, VERA_FAILURES[failure]))
    assert isinstance(outcome.blocked, Block)
    assert outcome.contributions == ()

    outcome, _ = await fired(PROMPT, cfg(PromptSubmitted, AddContext("x")), ext(PromptSubmitted, VERA_FAILURES[failure]))
    assert [decision for _, decision in given_by(outcome)] == [AddContext("x")]
    await end_of_the_deaf()


@virtual
async def test_case_104_esc_ends_the_wait_at_once_and_drops_the_late_result() -> None:
    rig = Rig(cfg(PromptSubmitted, deaf(20, Block("late"))))
    turn = asyncio.ensure_future(rig.fire(PROMPT))
    await asyncio.sleep(3)

    turn.cancel()
    await asyncio.wait({turn})

    assert now() == 3
    await end_of_the_deaf()
    assert rig.journal.calls[0].decision is None


# turn_ending


@virtual
async def test_case_112_the_first_that_continues_wins() -> None:
    outcome, rig = await fired(ENDING, cfg(TurnEnding), cfg(TurnEnding, Continue("draw it")), ext(TurnEnding, Continue("again")))
    assert outcome.decision == Continue("draw it")
    assert len(rig.asked) == 2


@pytest.mark.parametrize("failure", [*(name for name in VERA_FAILURES if "another" not in name), "block"])
@virtual
async def test_case_113_116_a_failing_entry_ends_the_turn(failure: str) -> None:
    given = VERA_FAILURES.get(failure, Block("no"))
    outcome, rig = await fired(ENDING, cfg(TurnEnding, given), cfg(TurnEnding, Continue("x")), ext(TurnEnding, Continue("y")))
    assert outcome.decision is None
    assert rig.asked == ["hook"]
    await end_of_the_deaf()


@virtual
async def test_a_failing_entry_does_not_silence_another_contract() -> None:
    outcome, _ = await fired(ENDING, cfg(TurnEnding, HookFailed("exit status 1")), stub(TurnEnding, Continue("x"), tier=Tier.PYTHON))
    assert outcome.decision == Continue("x")


@virtual
async def test_a_failing_extension_leaves_the_chain_going() -> None:
    outcome, _ = await fired(ENDING, ext(TurnEnding, ValueError("boom")), ext(TurnEnding, Continue("x")))
    assert outcome.decision == Continue("x")


@virtual
async def test_case_178_a_function_that_never_settles_lets_the_turn_end_after_sixty_seconds() -> None:
    outcome, _ = await fired(ENDING, ext(TurnEnding, after(10_000)))
    assert (outcome.decision, now()) == (None, 60)


# observers


OBSERVED: list[Event] = [
    CompactionStarting(reason="manual", tokens=1),
    SessionEnd(reason="closed"),
    SubagentFinished(subagent="s", background=True, outcome="completed", text="t"),
    TurnComplete(outcome="completed", turns=1),
]


@pytest.mark.parametrize("event", OBSERVED, ids=lambda event: type(event).__name__)
@virtual
async def test_case_121_136_observers_start_in_order_and_nobody_waits(event: Event) -> None:
    kind = type(event)
    options: dict[str, Any] = {"lane": Lane("vera"), "delivery": DETACHED}
    rig = Rig(
        *(stub(kind, after(9), tier=Tier.CONFIG, name=name, timeout=30.0, **options) for name in "ab"),
        stub(kind, ValueError("boom"), tier=Tier.EXTENSION, name="c", **options),
    )

    outcome = await rig.fire(event)

    assert (outcome.value, outcome.decision, now()) == (event, None, 0)
    assert rig.asked == ["a", "b", "c"]
    assert await rig.background.drain(detached_seconds=10) == []
    assert now() == 9
    assert rig.ends == [("a", Ended.PASSED), ("b", Ended.PASSED), ("c", Ended.FAILED)]


@virtual
async def test_case_128_a_stopping_host_may_cut_an_observer() -> None:
    rig = Rig(stub(SessionEnd, after(30), tier=Tier.CONFIG, delivery=DETACHED))
    await rig.fire(SessionEnd(reason="shutdown"))
    assert [entry.pending for entry in await rig.background.drain(detached_seconds=2)] == [1]
    assert now() == 2


def test_an_observer_cannot_fail_closed() -> None:
    with pytest.raises(BindError):
        stub(SessionEnd, on_failure=OnFailure.CLOSED, delivery=DETACHED)


@virtual
async def test_a_bare_session_has_no_hooks_at_all() -> None:
    home = Registry()
    home.add(cfg(ToolProposed, Block("no")))
    home.add(stub(SessionEnd, tier=Tier.CONFIG, delivery=DETACHED))
    rig = Rig(registry=Registry(home, gates_only=True))

    assert (await rig.fire(CALLED)).decision is None
    await rig.fire(SessionEnd(reason="closed"))

    assert rig.asked == []
