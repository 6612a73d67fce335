"""What a hook may do before a tool call (vera.md 3.1; cases 28 to 56)."""

import asyncio
import json

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import CALL, SESSION, WORKSPACE, finished, proposed
from tests.support.vera_home import VeraHome, reason, says
from treblehook.contracts.vera.json_text import encoded
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.engine import HookTimedOut
from treblehook.lifecycle import Block, Replace, ToolCall

OBSERVE = says({"power": "observe"})
BLOCKED_BY = "pre_tool_use hook lookout failed: "


async def failure_of(home: VeraHome, body: str | bytes) -> str:
    """Why a hook that prints this blocks the call; the hook behind it must not be asked."""
    home.hook("pre_tool_use", "lookout", body)
    home.hook("pre_tool_use", "second", OBSERVE)

    outcome = await home.fire(proposed())

    assert outcome.failure is not None
    assert home.sent("second") == []
    assert reason(outcome) == BLOCKED_BY + outcome.failure
    return outcome.failure


async def answered(home: VeraHome, answer: object) -> str:
    return await failure_of(home, json.dumps(answer).encode())


async def test_the_payload(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE)

    await home.fire(proposed())

    assert home.sent("lookout") == [
        {
            "type": "pre_tool_use",
            "toolCall": {"id": "call_1", "name": "bash", "input": {"command": "rm treasure/chest.yaml"}},
            "sessionId": SESSION,
            "workspace": WORKSPACE,
        }
    ]


async def test_case_028_observe_leaves_the_call_alone(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE)

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.value.call) == (None, CALL)


async def test_case_029_empty_stdout_blocks(home: VeraHome) -> None:
    assert "printed nothing" in await failure_of(home, b" \n")


async def test_case_030_trailing_text_blocks(home: VeraHome) -> None:
    assert "did not print one JSON value" in await failure_of(home, b'{"power":"observe"} trailing')


@pytest.mark.parametrize(
    "printed", [b'note\n{"power":"observe"}', b'{"power":"observe"}{"power":"observe"}', b'{"power":"obs', b"{'power':'observe'}"]
)
async def test_one_json_value_and_nothing_else(home: VeraHome, printed: bytes) -> None:
    assert "did not print one JSON value" in await failure_of(home, printed)


async def test_case_032_the_exit_status_comes_first(home: VeraHome) -> None:
    body = 'cat >/dev/null; echo \'{"power":"block","reason":"printed"}\'; exit 1'

    assert await failure_of(home, body) == "exited with status 1"


async def test_case_033_block_gives_its_reason(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "no"}))
    home.hook("pre_tool_use", "second", OBSERVE)

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.failure) == (Block("no"), None)
    assert home.sent("second") == []


@pytest.mark.parametrize("answer", [{}, {"reason": ""}, {"reason": None}, {"reason": 3}, {"reason": ["x"]}])
async def test_case_034_a_block_needs_a_reason(home: VeraHome, answer: dict[str, object]) -> None:
    assert "reason" in await answered(home, {"power": "block", **answer})


async def test_a_reason_of_one_blank_is_legal(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": " "}))

    assert (await home.fire(proposed())).decision == Block(" ")


async def test_case_036_a_later_hook_sees_the_new_input(home: VeraHome) -> None:
    home.hook("pre_tool_use", "a", says({"power": "mutate", "input": {"command": "ls"}}))
    home.hook("pre_tool_use", "b", OBSERVE)

    await home.fire(proposed())

    assert home.sent("b")[0]["toolCall"] == {"id": "call_1", "name": "bash", "input": {"command": "ls"}}


async def test_case_037_the_new_input_replaces_the_whole(home: VeraHome) -> None:
    home.hook("pre_tool_use", "a", says({"power": "mutate", "input": {"other": [1, None, {"x": 2.5}]}, "id": "c9", "name": "read"}))
    home.hook("pre_tool_use", "b", OBSERVE)

    outcome = await home.fire(proposed())

    assert outcome.value.call == ToolCall("call_1", "bash", {"other": [1, None, {"x": 2.5}]})


@pytest.mark.parametrize("answer", [{}, {"input": []}, {"input": None}, {"input": "ls"}])
async def test_case_038_an_input_is_an_object(home: VeraHome, answer: dict[str, object]) -> None:
    assert "input" in await answered(home, {"power": "mutate", **answer})


async def test_case_040_a_block_keeps_the_input_of_the_hook_before(home: VeraHome) -> None:
    home.hook("pre_tool_use", "a", says({"power": "mutate", "input": {"command": "ls"}}))
    home.hook("pre_tool_use", "b", says({"power": "block", "reason": "no"}))

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.value.call.input) == (Block("no"), {"command": "ls"})


async def test_a_failure_returns_the_original_input(home: VeraHome) -> None:
    home.hook("pre_tool_use", "a", says({"power": "mutate", "input": {"command": "ls"}}))
    home.hook("pre_tool_use", "b", b"")

    outcome = await home.fire(proposed())

    assert outcome.failure is not None
    assert outcome.value.call == CALL


async def test_case_041_a_replacement_is_the_result_and_is_seen_afterwards(home: VeraHome) -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    home.hook("pre_tool_use", "lookout", says({"power": "replace", "result": {"content": blocks, "isError": True}}))
    home.hook("pre_tool_use", "second", OBSERVE)
    home.hook("post_tool_use", "after", OBSERVE)
    session = home.session()

    replaced = (await session.fire(proposed())).replaced
    assert replaced == Replace("one\ntwo", is_error=True)
    await session.fire(finished(replaced.content, is_error=True, duration_ms=0.0))

    assert home.sent("second") == []
    (payload,) = home.sent("after")
    assert payload["result"]["content"] == [{"type": "text", "text": "one\ntwo"}]
    assert (payload["durationMs"], type(payload["durationMs"])) == (0, int)


async def test_a_replacement_may_be_empty(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", says({"power": "replace", "result": {"content": [], "isError": False}}))

    assert (await home.fire(proposed())).replaced == Replace("")


TEXT = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    "result",
    [
        {"content": [TEXT]},
        {"content": [TEXT], "isError": None},
        {"content": [TEXT], "isError": 0},
        {"isError": False},
        {"content": None, "isError": False},
        {"content": "x", "isError": False},
        {"content": ["x"], "isError": False},
        {"content": [{"type": "image", "text": "x"}], "isError": False},
        {"content": [{"type": "text"}], "isError": False},
        {"content": [TEXT, {"text": "x"}], "isError": False},
        None,
        [],
    ],
)
async def test_case_042_a_replacement_needs_text_blocks_and_a_flag(home: VeraHome, result: object) -> None:
    await answered(home, {"power": "replace", "result": result})


async def test_a_replacement_needs_a_result(home: VeraHome) -> None:
    assert await answered(home, {"power": "replace"}) == "gave no result; it must be an object"


@pytest.mark.parametrize("power", ["allow", "continue", "Observe", "", None, 1, ["observe"]])
async def test_case_044_only_the_powers_of_the_phase(home: VeraHome, power: object) -> None:
    assert "power" in await answered(home, {"power": power, "reason": "x", "context": "x"})


async def test_an_unknown_power_names_the_known_ones(home: VeraHome) -> None:
    assert await answered(home, {"power": "allow"}) == 'its power is "allow"; allowed here: observe, mutate, block, replace'


@pytest.mark.parametrize("answer", [[], None, "observe", 3, True, {}, [{"power": "observe"}]])
async def test_case_045_an_answer_is_an_object_with_a_power(home: VeraHome, answer: object) -> None:
    await answered(home, answer)


async def test_case_049_a_hook_past_its_timeout_blocks(home: VeraHome, clock: Clock) -> None:
    home.hook("pre_tool_use", "lookout", 'touch "$0.started"; exec sleep 600', timeout_ms=2500)
    home.hook("pre_tool_use", "second", OBSERVE)
    firing = home.fire(proposed())

    async def time_out() -> None:
        await until((home.hooks / "lookout.started").exists)
        await clock.advance(2.5)

    outcome, _ = await asyncio.gather(firing, time_out())

    assert reason(outcome) == BLOCKED_BY + HookTimedOut(2.5).message
    assert home.sent("second") == []


async def test_case_050_the_hooks_of_a_call_share_a_deadline(home: VeraHome, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        body = 'touch "$0.started"; while [ ! -e "$0.go" ]; do sleep 0.01; done; echo \'{"power":"observe"}\''
        home.hook("pre_tool_use", name, body)

    async def pass_time() -> None:
        for name, seconds in (("a", 25.0), ("b", 25.0), ("c", 10.0)):
            await until((home.hooks / f"{name}.started").exists)
            await clock.advance(seconds)
            if name != "c":
                (home.hooks / f"{name}.go").touch()

    outcome, _ = await asyncio.gather(home.fire(proposed()), pass_time())

    assert reason(outcome) == "pre_tool_use hook c failed: " + HookTimedOut(60.0, shared=True).message


async def test_case_054_other_keys_are_ignored(home: VeraHome) -> None:
    answer = {"power": "observe", "reason": "x", "zzz": 1, "input": None, "result": []}
    home.hook("pre_tool_use", "lookout", says(answer))

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.failure) == (None, None)


async def test_case_056_a_payload_over_its_bound_is_not_sent(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE)
    call = ToolCall("call_1", "bash", {"command": ""})
    room = 262_144 - len(encoded(PAYLOADS["pre_tool_use"](proposed(call))))

    fits = await home.fire(proposed(ToolCall("call_1", "bash", {"command": "x" * room})))
    over = await home.fire(proposed(ToolCall("call_1", "bash", {"command": "x" * (room + 1)})))

    assert fits.decision is None
    assert reason(over) == BLOCKED_BY + "was not started: its input has 262145 bytes, and 262144 are allowed"
    assert len(home.sent("lookout")) == 1


async def test_a_failure_says_phase_hook_and_detail(home: VeraHome) -> None:
    home.script("sub/guard", "cat >/dev/null; exit 3")
    home.hook("pre_tool_use", "guard", None, argv=["sub/guard", "--strict"])

    assert reason(await home.fire(proposed())) == "pre_tool_use hook guard failed: exited with status 3"


async def test_one_call_does_not_touch_another(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", 'grep -q \'"name":"bash"\' && exit 1; echo \'{"power":"observe"}\'')
    session = home.session()

    assert (await session.fire(proposed())).failure is not None
    assert (await session.fire(proposed(ToolCall("call_2", "read", {"path": "x"})))).decision is None
