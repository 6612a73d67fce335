"""vera's rows of a tool call (vera.md 3.1, 3.2 and 3.11), played by stub handlers bound as that contract binds its own."""

import asyncio

import pytest

from tests.support.contract_stubs import VERA_FAILURES, cfg, ext, fired
from tests.support.hooks import CALL, after, stub
from tests.support.virtual import now, virtual
from treblehook.engine import Ended, HookFailed, Lane, Tier
from treblehook.lifecycle import (
    Block,
    PromptSubmitted,
    Replace,
    Rewrite,
    ToolFinished,
    ToolProposed,
    TurnEnding,
)

CALLED = ToolProposed(call=CALL)
FINISHED = ToolFinished(call=CALL, content="original")
PROMPT = PromptSubmitted(prompt="p", model="m", tools=("read", "bash", "process"))
ENDING = TurnEnding(prompt="p", reply="r")


async def end_of_the_deaf() -> None:
    await asyncio.sleep(31)


# pre_tool_use


@virtual
async def test_case_028_observe_runs_the_original_input() -> None:
    outcome, _ = await fired(CALLED, cfg(ToolProposed), ext(ToolProposed))
    assert (outcome.value, outcome.decision) == (CALLED, None)


@pytest.mark.parametrize("failure", VERA_FAILURES)
@virtual
async def test_case_029_049_a_failing_entry_blocks_the_call_with_the_original_input(failure: str) -> None:
    outcome, rig = await fired(
        CALLED,
        cfg(ToolProposed, Rewrite(input={"n": 1}), name="a"),
        cfg(ToolProposed, VERA_FAILURES[failure], name="b"),
        cfg(ToolProposed, name="c"),
        ext(ToolProposed, Replace("fine"), name="d"),
    )
    assert isinstance(outcome.blocked, Block)
    assert outcome.blocked.reason.startswith("ToolProposed hook b failed: ")
    assert outcome.value == CALLED
    assert rig.asked == ["a", "b"]
    await end_of_the_deaf()


@virtual
async def test_case_033_a_block_stops_the_chain() -> None:
    outcome, rig = await fired(CALLED, cfg(ToolProposed, Block("no")), cfg(ToolProposed, name="second"))
    assert outcome.blocked == Block("no")
    assert (outcome.failure, len(rig.asked)) == (None, 1)


@virtual
async def test_case_036_the_next_hook_sees_the_new_input() -> None:
    seen = []
    outcome, _ = await fired(
        CALLED,
        cfg(ToolProposed, Rewrite(input={"n": 1})),
        ext(ToolProposed, lambda event: seen.append(event.call.input)),
    )
    assert seen == [{"n": 1}]
    assert outcome.value.call.input == {"n": 1}


@virtual
async def test_case_040_a_block_keeps_the_mutated_input_for_the_transcript() -> None:
    outcome, _ = await fired(CALLED, cfg(ToolProposed, Rewrite(input={"n": 1})), cfg(ToolProposed, Block("no")))
    assert outcome.blocked == Block("no")
    assert outcome.value.call.input == {"n": 1}


@virtual
async def test_case_041_a_replacement_stops_the_chain() -> None:
    outcome, rig = await fired(CALLED, cfg(ToolProposed, Replace("text", is_error=True)), ext(ToolProposed, Block("no")))
    assert outcome.replaced == Replace("text", is_error=True)
    assert len(rig.asked) == 1


@virtual
async def test_case_050_the_third_hook_is_cut_by_the_deadline_that_all_share() -> None:
    outcome, rig = await fired(CALLED, *(cfg(ToolProposed, after(25), name=name) for name in "abc"))
    assert now() == 60
    assert rig.ends == [("a", Ended.PASSED), ("b", Ended.PASSED), ("c", Ended.TIMED_OUT)]
    assert outcome.blocked


@pytest.mark.parametrize("failure", [*VERA_FAILURES, "never settles"])
@virtual
async def test_case_052_053_an_extension_that_fails_is_ignored(failure: str) -> None:
    given = VERA_FAILURES.get(failure, after(10_000))
    outcome, rig = await fired(
        CALLED,
        cfg(ToolProposed, Rewrite(input={"n": 1})),
        ext(ToolProposed, given),
        ext(ToolProposed, Rewrite(input={"n": 2}), name="next"),
    )
    # A hanging function uses up the shared time; who comes after it in the lane is late as well, and ignored as well.
    expected = 1 if failure == "never settles" else 2
    assert (outcome.value.call.input, outcome.decision) == ({"n": expected}, None)
    assert len(rig.asked) == 3
    await end_of_the_deaf()


@virtual
async def test_an_entry_whose_time_an_earlier_one_used_up_blocks() -> None:
    outcome, rig = await fired(CALLED, *(cfg(ToolProposed, after(29.9), name=name) for name in "abc"))
    assert outcome.blocked
    assert rig.ends[-1] == ("c", Ended.TIMED_OUT)


# post_tool_use


@virtual
async def test_case_057_061_patches_chain() -> None:
    outcome, _ = await fired(
        FINISHED,
        cfg(ToolFinished),
        cfg(ToolFinished, Rewrite(content="one")),
        ext(ToolFinished, lambda event: Rewrite(content=event.content + " two", is_error=True)),
        ext(ToolFinished, Rewrite()),
    )
    assert (outcome.value.content, outcome.value.is_error) == ("one two", True)


@pytest.mark.parametrize("failure", [*VERA_FAILURES, "block"])
@virtual
async def test_case_062_a_failing_entry_returns_the_original_result_and_ends_the_chain(failure: str) -> None:
    given = VERA_FAILURES.get(failure, Block("no"))
    outcome, rig = await fired(
        FINISHED,
        cfg(ToolFinished, Rewrite(content="patched")),
        cfg(ToolFinished, given),
        cfg(ToolFinished, Rewrite(content="later"), name="later"),
        ext(ToolFinished, Rewrite(content="extension"), name="extension"),
    )
    assert (outcome.value, outcome.decision) == (FINISHED, None)
    assert rig.asked == ["hook", "hook"]
    await end_of_the_deaf()


@virtual
async def test_another_lanes_redaction_stands_when_this_one_gives_up() -> None:
    other = Lane("crucible")
    outcome, _ = await fired(
        FINISHED,
        stub(ToolFinished, Rewrite(content="redacted"), tier=Tier.CONFIG, priority=1, lane=other),
        cfg(ToolFinished, lambda event: Rewrite(content=f"<{event.content}>")),
        cfg(ToolFinished, HookFailed("exit status 1")),
        stub(ToolFinished, lambda event: Rewrite(is_error=event.content == "redacted"), tier=Tier.PLUGIN, lane=other),
    )
    assert (outcome.value.content, outcome.value.is_error) == ("redacted", True)


@virtual
async def test_case_064_an_extension_that_throws_leaves_the_patches() -> None:
    outcome, _ = await fired(FINISHED, cfg(ToolFinished, Rewrite(content="patched")), ext(ToolFinished, ValueError("boom")))
    assert outcome.value.content == "patched"


@virtual
async def test_the_hooks_of_a_result_share_five_seconds() -> None:
    outcome, _ = await fired(FINISHED, cfg(ToolFinished, after(3, Rewrite(content="x"))), cfg(ToolFinished, after(3)))
    assert now() == 5
    assert outcome.value == FINISHED
