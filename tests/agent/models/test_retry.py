"""Asking again: what is worth it, how long is waited, and what is told."""

import json
from collections.abc import Awaitable, Callable, Sequence

import pytest

from tests.agent.models.asking import opened, query
from tests.support.fake_model import provider_environment
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, call_stream, text_stream
from treblehook.agent.models import Model, ModelFailed, ModelReply, reply_with_retries

Answer = Callable[[Exchange], Awaitable[None]]


class Attempts:
    """Asks with a clock that only counts, and keeps what was told."""

    def __init__(self, chance: float = 0.0) -> None:
        self.slept: list[float] = []
        self.heard: list[str] = []
        self.retries: list[tuple[str, float]] = []
        self._chance = chance

    async def ask(self, model: Model, *, attempts: int = 4) -> ModelReply:
        return await reply_with_retries(
            model,
            query("hi"),
            self.heard.append,
            sleep=self._sleep,
            random=lambda: self._chance,
            on_retry=lambda failure, seconds: self.retries.append((failure.kind, seconds)),
            attempts=attempts,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def status(number: int, *headers: str) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(number, json.dumps({"error": {"type": "t", "message": "not today"}}).encode(), *headers)

    return answer


def stream(content: bytes) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(content)

    return answer


def playing(answers: Sequence[Answer]) -> RawServer:
    """A server that gives these answers in turn, and the last one for ever."""
    left = list(answers)

    async def answer(exchange: Exchange) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(exchange)

    return RawServer(answer)


@pytest.mark.parametrize("word", WORDS)
async def test_what_passes_is_asked_for_again(word: str) -> None:
    whole = text_stream(word, "a", "hoy")
    attempts = Attempts()

    async with playing(
        [status(529), stream(whole.head + whole.deltas[0]), stream(call_stream(word, "[1]")), stream(whole.whole)]
    ) as server:
        reply = await attempts.ask(opened(word, provider_environment(server.url)))

    assert reply.text == "ahoy"
    assert attempts.retries == [("overloaded", 0.5), ("cut", 1.0), ("malformed", 2.0)]
    assert attempts.slept == [0.5, 1.0, 2.0]
    assert attempts.heard == ["a", "a", "hoy"]
    assert server.requests == 4


@pytest.mark.parametrize("number", [400, 401, 403, 404])
@pytest.mark.parametrize("word", WORDS)
async def test_what_does_not_pass_is_asked_for_once(word: str, number: int) -> None:
    attempts = Attempts()

    async with playing([status(number)]) as server:
        with pytest.raises(ModelFailed) as caught:
            await attempts.ask(opened(word, provider_environment(server.url)))

    assert caught.value.status == number
    assert (server.requests, attempts.retries, attempts.slept) == (1, [], [])


async def test_the_last_failure_is_told_in_one_line() -> None:
    attempts = Attempts()

    async with playing([status(500), status(503, "retry-after: 3"), status(529)]) as server:
        with pytest.raises(ModelFailed) as caught:
            await attempts.ask(opened("openai", provider_environment(server.url)), attempts=3)

    assert str(caught.value) == "openai:model-1: HTTP 529: not today (asked 3 times)"
    assert (caught.value.kind, caught.value.status, caught.value.retryable) == ("overloaded", 529, True)
    assert [kind for kind, _ in attempts.retries] == ["server", "overloaded"]
    assert server.requests == 3


async def test_a_refused_connection_is_tried_again() -> None:
    attempts = Attempts()

    with pytest.raises(ModelFailed) as caught:
        await attempts.ask(opened("openai", provider_environment("http://127.0.0.1:9")))

    assert caught.value.kind == "refused"
    assert [kind for kind, _ in attempts.retries] == ["refused"] * 3


async def test_one_attempt_is_one_request() -> None:
    async with playing([status(500)]) as server:
        with pytest.raises(ModelFailed):
            await Attempts().ask(opened("openai", provider_environment(server.url)), attempts=1)

    assert server.requests == 1


@pytest.mark.parametrize("seconds", ["0", "7", "120"])
async def test_the_wait_that_a_provider_asks_for_is_waited(seconds: str) -> None:
    attempts = Attempts()

    async with playing([status(429, f"retry-after: {seconds}"), stream(text_stream("openai", "ahoy").whole)]) as server:
        await attempts.ask(opened("openai", provider_environment(server.url)))

    assert attempts.slept == [float(seconds)]


async def test_a_wait_beyond_reason_is_not_waited() -> None:
    attempts = Attempts()

    async with playing([status(429, "retry-after: 3600")]) as server:
        with pytest.raises(ModelFailed) as caught:
            await attempts.ask(opened("openai", provider_environment(server.url)))

    assert caught.value.retry_after == 3600
    assert (server.requests, attempts.slept) == (1, [])


async def test_waits_are_spread_by_chance_and_bounded() -> None:
    attempts = Attempts(chance=1.0)

    async with playing([status(500)]) as server:
        with pytest.raises(ModelFailed):
            await attempts.ask(opened("openai", provider_environment(server.url)), attempts=9)

    assert attempts.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
