"""How a request fails: which kind, whether to ask again, and the one line that is told."""

import json
import socket

import pytest

from tests.agent.models.asking import failure, opened, query
from tests.support.fake_model import provider_environment
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, call_stream, text_stream
from treblehook.agent.models import ModelFailed
from treblehook.agent.models.access import find_access
from treblehook.agent.models.provider import ProviderModel
from treblehook.agent.models.spec import PROVIDERS

KEY = {"anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY", "openai": "OPENAI_API_KEY", "openai-responses": "OPENAI_API_KEY"}


def body(message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": "some_error", "message": message}}).encode()


async def failure_after(word: str, stream: bytes, *, length: int | None = None) -> ModelFailed:
    """How a request fails whose answer is this stream, after which the connection ends."""

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream(length=length)
        await exchange.send(stream)

    async with RawServer(answer) as server:
        return await failure(opened(word, provider_environment(server.url)), query("hi"))


@pytest.mark.parametrize("word", WORDS)
async def test_a_refused_connection(word: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        failed = await failure(opened(word, provider_environment(url)), query("hi"))

    assert (failed.kind, failed.retryable, failed.status) == ("refused", True, None)
    assert failed.detail.startswith(f"cannot connect to {url}")
    assert failed.detail.endswith(": Connection refused")
    assert str(failed) == f"{word}:model-1: {failed.detail}"


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "rejected", False),
        (401, "unauthorized", False),
        (403, "unauthorized", False),
        (404, "rejected", False),
        (408, "timeout", True),
        (409, "server", True),
        (413, "rejected", False),
        (429, "rate_limited", True),
        (500, "server", True),
        (502, "server", True),
        (503, "overloaded", True),
        (529, "overloaded", True),
    ],
)
async def test_a_status_decides_and_is_asked_for_once(word: str, status: int, kind: str, retryable: bool) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(status, body("not\n today"))

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert (failed.kind, failed.retryable, failed.status, failed.retry_after) == (kind, retryable, status, None)
    remedy = f" (check {KEY[word]})" if kind == "unauthorized" else ""
    assert failed.detail == f"HTTP {status}: not today{remedy}"
    assert server.requests == 1


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(("header", "seconds"), [("retry-after: 7", 7.0), ("retry-after-ms: 250", 0.25), ("retry-after: soon", None)])
async def test_the_wait_that_a_provider_asks_for_is_kept(word: str, header: str, seconds: float | None) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(429, body("slow down"), header)

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert failed.retry_after == seconds


@pytest.mark.parametrize("word", ["openai", "openai-responses"])
async def test_an_empty_account_is_no_reason_to_ask_again(word: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(429, json.dumps({"error": {"code": "insufficient_quota", "message": "pay first"}}).encode())

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert (failed.kind, failed.retryable, failed.detail) == ("rejected", False, "HTTP 429: pay first")


@pytest.mark.parametrize("word", WORDS)
async def test_an_error_that_is_no_json_is_told_as_it_is(word: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(502, b"<html>bad\ngateway</html>")

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert (failed.kind, failed.detail) == ("server", "HTTP 502: <html>bad gateway</html>")


@pytest.mark.parametrize("word", WORDS)
async def test_a_long_error_is_shortened(word: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(400, body("blah " * 1000))

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert len(failed.detail) < 400


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("parts", [1, 2])
async def test_a_stream_that_ends_before_the_reply_does(word: str, parts: int) -> None:
    stream = text_stream(word, "a", "hoy")

    failed = await failure_after(word, stream.head + b"".join(stream.deltas[:parts]))

    assert (failed.kind, failed.retryable) == ("cut", True)
    assert failed.detail == "the stream ended in the middle of the reply"


@pytest.mark.parametrize("word", WORDS)
async def test_a_connection_that_breaks_in_the_middle_of_the_reply(word: str) -> None:
    stream = text_stream(word, "a", "hoy")

    failed = await failure_after(word, stream.head + stream.deltas[0], length=1_000_000)

    assert (failed.kind, failed.retryable) == ("cut", True)
    assert "broke" in failed.detail


@pytest.mark.parametrize("word", WORDS)
async def test_a_connection_that_ends_without_an_answer(word: str) -> None:
    async def answer(exchange: Exchange) -> None:
        return

    async with RawServer(answer) as server:
        failed = await failure(opened(word, provider_environment(server.url)), query("hi"))

    assert (failed.kind, failed.retryable) == ("cut", True)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("nonsense", [b'data: {"half": \n\n', b"data: [1, 2]\n\n", b'data: {"some": "thing"}\n\n', b""])
async def test_nonsense_instead_of_a_reply(word: str, nonsense: bytes) -> None:
    failed = await failure_after(word, nonsense)

    assert failed.kind in ("malformed", "cut")
    assert failed.retryable


@pytest.mark.parametrize("word", WORDS)
async def test_nonsense_in_the_middle_of_a_reply(word: str) -> None:
    stream = text_stream(word, "a", "hoy")

    broken = stream.deltas[1].replace(b'{"', b"{", 1)

    failed = await failure_after(word, stream.head + stream.deltas[0] + broken + stream.tail)

    assert (failed.kind, failed.retryable) == ("malformed", True)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("arguments", ['{"path": ', "[1]", '"map.txt"', "no JSON"])
async def test_arguments_that_are_no_object(word: str, arguments: str) -> None:
    failed = await failure_after(word, call_stream(word, arguments))

    assert (failed.kind, failed.retryable) == ("malformed", True)


async def test_an_error_in_the_middle_of_a_stream_counts_like_its_status() -> None:
    stream = text_stream("anthropic", "a")
    error = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "full house"}}\n\n'

    failed = await failure_after("anthropic", stream.head + stream.deltas[0] + error)

    assert (failed.kind, failed.retryable, failed.detail) == ("overloaded", True, "HTTP 529: full house")


async def test_an_unknown_error_in_the_middle_of_a_stream_may_pass() -> None:
    stream = text_stream("anthropic", "a")
    error = b'event: error\ndata: {"type": "error", "error": {"type": "odd_error", "message": "oh no"}}\n\n'

    failed = await failure_after("anthropic", stream.head + error)

    assert (failed.kind, failed.retryable, failed.detail) == ("server", True, "oh no")


@pytest.mark.parametrize("word", WORDS)
async def test_a_provider_that_stays_silent(word: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.hung_up()

    async with RawServer(answer) as server:
        access = find_access(f"{word}:m", PROVIDERS[word], provider_environment(server.url))
        failed = await failure(ProviderModel(f"{word}:m", word, "m", access, None, silence=0.2), query("hi"))

    assert (failed.kind, failed.retryable) == ("timeout", True)
    assert failed.detail == f"no answer from {access.url} in time"
