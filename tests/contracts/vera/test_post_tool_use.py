"""What a hook may do after a tool call (vera.md 3.2; cases 57 to 69)."""

import asyncio
import json

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import SESSION, WORKSPACE, finished
from tests.support.vera_home import VeraHome, says
from treblehook.engine import Ended, HookTimedOut
from treblehook.lifecycle import ToolCall

OBSERVE = says({"power": "observe"})


def patch(**fields: object) -> dict[str, object]:
    return {"power": "mutate", "patch": fields}


def blocks(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


async def test_the_payload(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)

    await home.fire(finished())

    assert home.sent("after") == [
        {
            "type": "post_tool_use",
            "toolCall": {"id": "call_1", "name": "bash", "input": {"command": "rm treasure/chest.yaml"}},
            "sessionId": SESSION,
            "workspace": WORKSPACE,
            "result": {
                "toolCallId": "call_1",
                "toolName": "bash",
                "content": [{"type": "text", "text": "The chest is gone."}],
                "isError": False,
            },
            "durationMs": 12.5,
        }
    ]


async def test_case_057_observe_keeps_the_result(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)

    assert (await home.fire(finished())).value == finished()


async def test_case_058_content_alone_keeps_the_flag(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch(content=blocks("The chest is still there."))))

    value = (await home.fire(finished(is_error=True))).value

    assert (value.content, value.is_error) == ("The chest is still there.", True)


async def test_the_flag_alone_keeps_the_content(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch(isError=True)))

    value = (await home.fire(finished())).value

    assert (value.content, value.is_error) == ("The chest is gone.", True)


async def test_several_blocks_are_one_text(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch(content=blocks("a", "", "b\n"))))

    assert (await home.fire(finished())).value.content == "a\n\nb\n"


async def test_no_block_is_an_empty_text(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch(content=[])))

    assert (await home.fire(finished())).value.content == ""


async def test_case_060_an_empty_patch_changes_nothing(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch()))

    outcome = await home.fire(finished())

    assert (outcome.value, outcome.failure) == (finished(), None)


async def test_case_061_the_second_hook_sees_the_first_ones_text(home: VeraHome) -> None:
    home.hook("post_tool_use", "first", says(patch(content=blocks("patched"), isError=True)))
    home.hook("post_tool_use", "second", says(patch(content=blocks("again"))))

    value = (await home.fire(finished())).value

    (payload,) = home.sent("second")
    assert (payload["result"]["content"], payload["result"]["isError"]) == (blocks("patched"), True)
    assert (value.content, value.is_error) == ("again", True)


ANSWERS_THAT_FAIL = [
    {"power": "block", "reason": "no"},
    {"power": "replace", "result": {"content": [], "isError": False}},
    {"power": "mutate"},
    {"power": "mutate", "patch": None},
    {"power": "mutate", "patch": []},
    patch(content=None),
    patch(content="text"),
    patch(content=[{"type": "text"}]),
    patch(isError=None),
    patch(isError="true"),
    patch(content=blocks("x"), isError=1),
]


@pytest.mark.parametrize("answer", ANSWERS_THAT_FAIL)
async def test_case_062_a_failure_keeps_the_original_result(home: VeraHome, answer: object) -> None:
    home.hook("post_tool_use", "first", says(patch(content=blocks("patched"))))
    home.hook("post_tool_use", "bad", says(answer))
    home.hook("post_tool_use", "third", says(patch(isError=True)))
    session = home.session()

    outcome = await session.fire(finished())

    assert (outcome.value, outcome.decision) == (finished(), None)
    assert [call.ended for call in session.calls] == [Ended.ANSWERED, Ended.FAILED]
    assert home.sent("third") == []


async def test_case_066_a_failed_tool_is_seen_too(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)

    await home.fire(finished("boom", is_error=True))

    assert home.sent("after")[0]["result"]["isError"] is True


async def test_case_068_a_replaced_call_is_seen_once(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)

    await home.fire(finished("instead", duration_ms=0.0))

    assert [payload["durationMs"] for payload in home.sent("after")] == [0]


async def test_case_069_content_must_be_blocks(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", says(patch(content="text")))
    session = home.session()

    await session.fire(finished())

    assert session.calls[0].error == 'its content is "text"; it must be an array of {"type":"text","text":...}'


async def test_the_hook_gets_the_limited_text_and_observe_keeps_the_full_one(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)
    long = "h" * 40_000 + "t" * 40_000

    value = (await home.fire(finished(long))).value

    (block,) = home.sent("after")[0]["result"]["content"]
    assert value.content == long
    assert len(block["text"]) < 31_000
    assert block["text"].startswith("hhh")
    assert block["text"].endswith("ttt")


async def test_the_hooks_of_a_call_share_five_seconds(home: VeraHome, clock: Clock) -> None:
    home.hook("post_tool_use", "first", says(patch(content=blocks("patched"))))
    home.hook("post_tool_use", "slow", 'touch "$0.started"; exec sleep 600')
    session = home.session()

    async def pass_time() -> None:
        await until((home.hooks / "slow.started").exists)
        await clock.advance(5.0)

    outcome, _ = await asyncio.gather(session.fire(finished()), pass_time())

    assert outcome.value == finished()
    assert session.calls[-1].error == HookTimedOut(5.0, shared=True).message


async def test_a_payload_over_its_bound_counts_as_a_failure(home: VeraHome) -> None:
    home.hook("post_tool_use", "after", OBSERVE)
    session = home.session()
    event = finished(call=ToolCall("c", "write", {"content": "x" * 262_144}))

    outcome = await session.fire(event)

    assert (outcome.value, [call.ended for call in session.calls]) == (event, [Ended.NOT_STARTED])


@pytest.mark.parametrize(("ms", "written"), [(0.0, "0"), (3.0, "3"), (12.5, "12.5")])
async def test_a_duration_is_written_as_javascript_does(home: VeraHome, ms: float, written: str) -> None:
    home.hook("post_tool_use", "after", OBSERVE)

    await home.fire(finished(duration_ms=ms))

    line = (home.hooks / "after.stdin").read_text().strip()
    assert line.endswith(f'"durationMs":{written}}}')
    assert line == json.dumps(json.loads(line), separators=(",", ":"))
