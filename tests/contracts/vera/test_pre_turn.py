"""What a hook may do before a user's message reaches the model (vera.md 3.4; cases 84 to 106)."""

import asyncio

import pytest

from tests.support.clock import Clock
from tests.support.processes import alive, until
from tests.support.sample_events import SESSION, WORKSPACE, submitted
from tests.support.vera_home import VeraHome, contexts, reason, says
from treblehook.engine import HookTimedOut
from treblehook.lifecycle import AddContext, Block

OBSERVE = says({"power": "observe"})


def mutates(**fields: object) -> str:
    return says({"power": "mutate", **fields})


async def test_the_payload(home: VeraHome) -> None:
    home.hook("pre_turn", "remember", OBSERVE)

    await home.fire(submitted())

    assert home.sent("remember") == [
        {
            "type": "pre_turn",
            "sessionId": SESSION,
            "workspace": WORKSPACE,
            "prompt": "where is the treasure?",
            "model": "acme/first",
            "tools": ["read", "bash"],
            "arrivedDuringTurn": False,
            "spawned": False,
        }
    ]


async def test_case_084_a_context_rides_along_under_the_name_of_its_executable(home: VeraHome) -> None:
    home.hook("pre_turn", "remember", mutates(context="third palm"))

    outcome = await home.fire(submitted())

    assert contexts(outcome) == [AddContext("third palm")]
    assert outcome.contributions[0].handler.name == "remember"
    assert outcome.value == submitted()


async def test_case_085_a_display_goes_with_the_context(home: VeraHome) -> None:
    home.hook("pre_turn", "remember", mutates(context="third palm", display="Spotted"))

    assert contexts(await home.fire(submitted())) == [AddContext("third palm", "Spotted")]


@pytest.mark.parametrize("display", ["", "x" * 200, "\U0001f99c" * 200, "tab\there", " "])
async def test_displays_that_are_fine(home: VeraHome, display: str) -> None:
    home.hook("pre_turn", "remember", mutates(context="x", display=display))

    assert contexts(await home.fire(submitted())) == [AddContext("x", display)]


@pytest.mark.parametrize("display", ["a\nb", "x" * 201, "a\r", "\u2028", "\u2029", "a\x85b", "\v", "\f", None, 3, ["x"]])
@pytest.mark.parametrize("context", [{"context": "x"}, {}])
async def test_case_086_a_bad_display_makes_the_whole_result_invalid(home: VeraHome, display: object, context: dict[str, str]) -> None:
    home.hook("pre_turn", "remember", mutates(display=display, **context))

    outcome = await home.fire(submitted())

    assert "display" in reason(outcome)
    assert outcome.failure is not None
    assert contexts(outcome) == []


async def test_case_088_a_block_gives_its_reason(home: VeraHome) -> None:
    home.hook("pre_turn", "guard", says({"power": "block", "reason": "not today"}))
    home.hook("pre_turn", "second", OBSERVE)

    outcome = await home.fire(submitted())

    assert (outcome.decision, outcome.failure) == (Block("not today"), None)
    assert home.sent("second") == []


async def test_case_089_a_block_drops_the_contexts_before_it(home: VeraHome) -> None:
    home.hook("pre_turn", "first", mutates(context="x"))
    home.hook("pre_turn", "second", says({"power": "block", "reason": "no"}))

    assert contexts(await home.fire(submitted())) == []


async def narrowed(home: VeraHome, wanted: list[str]) -> tuple[str, ...]:
    """What is left of read, bash and process; the hook behind must see the same."""
    home.hook("pre_turn", "narrow", mutates(tools=wanted))
    home.hook("pre_turn", "second", OBSERVE)

    outcome = await home.fire(submitted(tools=("read", "bash", "process")))

    assert home.sent("second")[0]["tools"] == list(outcome.value.tools)
    return outcome.value.tools


async def test_case_090_tools_are_narrowed(home: VeraHome) -> None:
    assert await narrowed(home, ["read"]) == ("read",)


async def test_case_092_a_tool_that_is_not_offered_is_not_added(home: VeraHome) -> None:
    assert await narrowed(home, ["read", "write"]) == ("read",)


async def test_case_093_no_tools_at_all(home: VeraHome) -> None:
    assert await narrowed(home, []) == ()


async def test_case_094_bash_keeps_its_companion(home: VeraHome) -> None:
    assert await narrowed(home, ["bash"]) == ("bash", "process")


async def test_a_wish_of_which_nothing_survives_is_ignored(home: VeraHome) -> None:
    assert await narrowed(home, ["write"]) == ("read", "bash", "process")


async def test_the_order_of_the_offer_stays(home: VeraHome) -> None:
    assert await narrowed(home, ["process", "read"]) == ("read", "process")


@pytest.mark.parametrize("field", ["model", "reasoningEffort"])
@pytest.mark.parametrize("value", ["", None, 3, []])
async def test_case_096_a_model_is_a_name(home: VeraHome, field: str, value: object) -> None:
    home.hook("pre_turn", "switch", mutates(**{field: value}))

    assert field in reason(await home.fire(submitted()))


@pytest.mark.parametrize("tools", [None, "read", {}, ["read", ""], ["read", 3], [None]])
async def test_tools_are_names(home: VeraHome, tools: object) -> None:
    home.hook("pre_turn", "narrow", mutates(tools=tools))

    assert "its tools" in reason(await home.fire(submitted()))


async def test_case_097_a_model_and_an_effort_are_seen_by_later_hooks(home: VeraHome) -> None:
    home.hook("pre_turn", "switch", mutates(model="acme/second", reasoningEffort="high", context="x"))
    home.hook("pre_turn", "second", OBSERVE)

    outcome = await home.fire(submitted())

    assert (outcome.value.model, outcome.value.effort) == ("acme/second", "high")
    assert contexts(outcome) == [AddContext("x")]
    payload = home.sent("second")[0]
    assert (payload["model"], payload["reasoningEffort"], payload["prompt"]) == ("acme/second", "high", "where is the treasure?")


async def test_case_098_a_joining_message_keeps_the_model(home: VeraHome) -> None:
    home.hook("pre_turn", "switch", mutates(model="acme/second", reasoningEffort="high", tools=["read"], context="x"))

    outcome = await home.fire(submitted(joined=True, effort="low"))

    assert home.sent("switch")[0]["arrivedDuringTurn"] is True
    assert (outcome.value.model, outcome.value.effort, outcome.value.tools) == ("acme/first", "low", ("read",))
    assert contexts(outcome) == [AddContext("x")]
    assert outcome.failure is None


async def test_case_102_a_timeout_blocks_the_message(home: VeraHome, clock: Clock) -> None:
    home.hook("pre_turn", "first", mutates(context="x"))
    home.hook("pre_turn", "slow", 'touch "$0.started"; exec sleep 600', timeout_ms=1000)

    async def pass_time() -> None:
        await until((home.hooks / "slow.started").exists)
        await clock.advance(1.0)

    outcome, _ = await asyncio.gather(home.fire(submitted()), pass_time())

    assert reason(outcome) == "pre_turn hook slow failed: " + HookTimedOut(1.0).message
    assert contexts(outcome) == []


async def test_case_104_cancelling_ends_the_process_at_once(home: VeraHome) -> None:
    home.hook("pre_turn", "slow", 'echo $$ > "$0.pid"; touch "$0.started"; exec sleep 600')
    firing = asyncio.ensure_future(home.fire(submitted()))
    await until((home.hooks / "slow.started").exists)
    pid = int((home.hooks / "slow.pid").read_text())

    firing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await firing

    await until(lambda: not alive(pid))


async def test_case_105_an_empty_mutate_changes_nothing(home: VeraHome) -> None:
    home.hook("pre_turn", "idle", mutates())

    outcome = await home.fire(submitted())

    assert (outcome.value, outcome.decision, outcome.contributions) == (submitted(), None, ())


async def test_an_empty_context_adds_nothing(home: VeraHome) -> None:
    home.hook("pre_turn", "idle", mutates(context="", display="Spotted"))

    outcome = await home.fire(submitted())

    assert (outcome.failure, outcome.contributions) == (None, ())


@pytest.mark.parametrize("context", [None, 3, ["x"], {}, "x" * 131_073])
async def test_case_106_a_context_is_a_text_within_its_limit(home: VeraHome, context: object) -> None:
    home.hook("pre_turn", "remember", mutates(context=context))

    assert "its context" in reason(await home.fire(submitted()))


async def test_contexts_are_collected_in_order(home: VeraHome) -> None:
    home.hook("pre_turn", "a", mutates(context="one"))
    home.hook("pre_turn", "b", mutates(context="two", tools=["read"]))
    home.hook("pre_turn", "c", mutates(context="three"))

    assert contexts(await home.fire(submitted())) == [AddContext("one"), AddContext("two"), AddContext("three")]


async def test_a_prompt_over_the_bound_of_a_payload_blocks_the_message(home: VeraHome) -> None:
    home.hook("pre_turn", "remember", OBSERVE)

    outcome = await home.fire(submitted("x" * 262_144))

    assert "was not started: its input has" in reason(outcome)
    assert home.sent("remember") == []
