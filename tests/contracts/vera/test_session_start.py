"""What a hook may do when a conversation starts (vera.md 3.3; cases 70 to 82)."""

import asyncio
import json
from typing import Literal

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import SESSION, WORKSPACE, started
from tests.support.vera_home import VeraHome, contexts, says
from treblehook.engine import HookTimedOut
from treblehook.lifecycle import AddContext

OBSERVE = says({"power": "observe"})


def adds(text: str) -> str:
    return says({"power": "mutate", "context": text})


@pytest.mark.parametrize("reason", ["start", "resume", "compacted"])
async def test_the_payload(home: VeraHome, reason: Literal["start", "resume", "compacted"]) -> None:
    home.hook("session_start", "hello", OBSERVE)

    await home.fire(started(reason))

    assert home.sent("hello") == [{"type": "session_start", "sessionId": SESSION, "workspace": WORKSPACE, "reason": reason}]


@pytest.mark.parametrize(("text", "size"), [("x", 131_072), ("é", 65_536), ("\x01", 131_072)])
async def test_case_076_a_context_of_exactly_the_limit_is_accepted(home: VeraHome, text: str, size: int) -> None:
    home.hook("session_start", "hello", json.dumps({"power": "mutate", "context": text * size}).encode())

    assert contexts(await home.fire(started())) == [AddContext(text * size)]
    assert home.log() == []


@pytest.mark.parametrize(("text", "count", "size"), [("x", 131_073, 131_073), ("é", 70_000, 140_000), ("\ud800", 43_691, 131_073)])
async def test_case_077_a_longer_context_is_refused_whole(home: VeraHome, text: str, count: int, size: int) -> None:
    home.hook("session_start", "hello", json.dumps({"power": "mutate", "context": text * count}).encode())

    assert contexts(await home.fire(started())) == []
    assert [line["error"] for line in home.log()] == [f"its context has {size} bytes; 131072 are allowed"]


async def test_case_078_contexts_are_numbered_by_the_place_of_their_hook(home: VeraHome) -> None:
    for name, body in (("a", adds("one")), ("b", OBSERVE), ("c", adds("three")), ("d", b""), ("e", adds("five"))):
        home.hook("session_start", name, body)

    outcome = await home.fire(started())

    assert contexts(outcome) == [AddContext("one"), AddContext("three"), AddContext("five")]
    assert [contribution.position for contribution in outcome.contributions] == [1, 3, 5]


@pytest.mark.parametrize(
    "answer",
    [
        {"power": "block", "reason": "x"},
        {"power": "continue", "context": "x"},
        {"power": "mutate"},
        {"power": "mutate", "context": None},
        {"power": "mutate", "context": ["x"]},
    ],
)
async def test_case_080_a_failure_is_logged_and_the_conversation_goes_on(home: VeraHome, answer: object) -> None:
    home.hook("session_start", "bad", says(answer))
    home.hook("session_start", "good", adds("hello"))

    outcome = await home.fire(started())

    assert (outcome.decision, outcome.failure) == (None, None)
    assert contexts(outcome) == [AddContext("hello")]
    assert [line["index"] for line in home.log()] == [1]


async def test_case_081_an_empty_context_adds_nothing(home: VeraHome) -> None:
    home.hook("session_start", "hello", adds(""))

    assert contexts(await home.fire(started())) == []
    assert home.log() == []


async def test_a_display_means_nothing_here(home: VeraHome) -> None:
    home.hook("session_start", "hello", says({"power": "mutate", "context": "x", "display": "a\nb"}))

    assert contexts(await home.fire(started())) == [AddContext("x")]


async def test_half_a_surrogate_pair_is_replaced(home: VeraHome) -> None:
    home.hook("session_start", "hello", b'{"power":"mutate","context":"a\\ud800b\\udc00\\ud83d\\ude00\\\\ud800"}')

    assert contexts(await home.fire(started())) == [AddContext("a\ufffdb\ufffd\U0001f600\\ud800")]


async def test_every_hook_has_its_own_time(home: VeraHome, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        home.hook("session_start", name, 'touch "$0.started"; exec sleep 600')
    home.hook("session_start", "d", adds("last"))

    async def pass_time() -> None:
        for name in ("a", "b", "c"):
            await until((home.hooks / f"{name}.started").exists)
            await clock.advance(30.0)

    outcome, _ = await asyncio.gather(home.fire(started()), pass_time())

    assert contexts(outcome) == [AddContext("last")]
    assert [line["error"] for line in home.log()] == [HookTimedOut(30.0).message] * 3
