"""A stream as it arrives: piece by piece, its end, what it cost, and what happens when nobody wants it any more."""

import asyncio

import pytest

from tests.agent.models.asking import ask, opened, query
from tests.support.fake_model import provider_environment
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, call_stream, text_stream
from treblehook.agent.models import ModelReply, Usage
from treblehook.lifecycle import ToolCall

# Against a hang only.
GUARD = 60

LENGTH = {"anthropic": "max_tokens", "google": "MAX_TOKENS", "openai": "length", "openai-responses": "max_output_tokens"}
REFUSAL = {"anthropic": "refusal", "google": "SAFETY", "openai": "content_filter", "openai-responses": "content_filter"}


async def reply_to(word: str, stream: bytes) -> ModelReply:
    """What becomes of a stream that arrives whole."""

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(stream)

    async with RawServer(answer) as server:
        return await ask(opened(word, provider_environment(server.url)), query("hi"))


@pytest.mark.parametrize("word", WORDS)
async def test_text_is_told_while_the_rest_is_still_to_come(word: str) -> None:
    heard: list[str] = []
    told = asyncio.Event()
    stream = text_stream(word, "a", "hoy")

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(stream.head + stream.deltas[0])
        await told.wait()
        await exchange.send(stream.deltas[1] + stream.tail)

    def on_text(text: str) -> None:
        heard.append(text)
        told.set()

    async with RawServer(answer) as server:
        reply = await opened(word, provider_environment(server.url)).reply(query("hi"), on_text)

    assert heard == ["a", "hoy"]
    assert reply.text == "ahoy"


@pytest.mark.parametrize("word", WORDS)
async def test_the_cost_tells_what_the_cache_gave(word: str) -> None:
    reply = await reply_to(word, text_stream(word, "ahoy").whole)

    # Only one of the providers says what it wrote to its cache.
    assert reply.usage == Usage(30, 5, cache_read=20, cache_write=7 if word == "anthropic" else 0)


@pytest.mark.parametrize("word", WORDS)
async def test_a_reply_of_nothing_is_a_reply(word: str) -> None:
    reply = await reply_to(word, text_stream(word).whole)

    assert (reply.text, reply.calls, reply.stop) == ("", (), "end")


@pytest.mark.parametrize("word", WORDS)
async def test_a_reply_that_ran_into_its_limit_says_so(word: str) -> None:
    reply = await reply_to(word, text_stream(word, "aho", finish=LENGTH[word]).whole)

    assert (reply.text, reply.stop) == ("aho", "length")


@pytest.mark.parametrize("word", WORDS)
async def test_a_refusal_says_so(word: str) -> None:
    assert (await reply_to(word, text_stream(word, "I", finish=REFUSAL[word]).whole)).stop == "refusal"


@pytest.mark.parametrize("word", WORDS)
async def test_a_call_that_the_limit_cut_is_not_made(word: str) -> None:
    reply = await reply_to(word, call_stream(word, '{"path": "/"}', finish=LENGTH[word]))

    assert (reply.calls, reply.stop) == ((), "length")
    assert "tool-call" not in reply.raw


@pytest.mark.parametrize("word", WORDS)
async def test_a_call_without_arguments_has_an_empty_input(word: str) -> None:
    (call,) = (await reply_to(word, call_stream(word, "{}" if word == "google" else ""))).calls

    assert call == ToolCall(call.id, "read", {})


@pytest.mark.parametrize("word", WORDS)
async def test_a_cancelled_request_hangs_up(word: str) -> None:
    heard, hung_up = asyncio.Event(), asyncio.Event()
    stream = text_stream(word, "a", "hoy")

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(stream.head + stream.deltas[0])
        await exchange.hung_up()
        hung_up.set()

    async with RawServer(answer) as server:
        asking = asyncio.create_task(opened(word, provider_environment(server.url)).reply(query("hi"), lambda text: heard.set()))
        await asyncio.wait_for(heard.wait(), GUARD)
        asking.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, GUARD)
        await asyncio.wait_for(hung_up.wait(), GUARD)


@pytest.mark.parametrize("word", WORDS)
async def test_a_request_that_nobody_answers_can_be_cancelled(word: str) -> None:
    asked, hung_up = asyncio.Event(), asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        asked.set()
        await exchange.hung_up()
        hung_up.set()

    async with RawServer(answer) as server:
        asking = asyncio.create_task(ask(opened(word, provider_environment(server.url)), query("hi")))
        await asyncio.wait_for(asked.wait(), GUARD)
        asking.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, GUARD)
        await asyncio.wait_for(hung_up.wait(), GUARD)


@pytest.mark.parametrize("word", WORDS)
async def test_a_listener_s_own_error_is_not_the_provider_s(word: str) -> None:
    class ListenerFailed(Exception):
        pass

    def on_text(text: str) -> None:
        raise ListenerFailed

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(text_stream(word, "ahoy").whole)

    async with RawServer(answer) as server:
        with pytest.raises(ListenerFailed):
            await opened(word, provider_environment(server.url)).reply(query("hi"), on_text)


@pytest.mark.parametrize("word", WORDS)
async def test_two_requests_at_once_do_not_meet(word: str) -> None:
    both = asyncio.Barrier(2)

    async def answer(exchange: Exchange) -> None:
        await both.wait()
        await exchange.start_stream()
        await exchange.send(text_stream(word, "left" if b"left?" in exchange.body else "right").whole)

    async with RawServer(answer) as server:
        model = opened(word, provider_environment(server.url))
        left, right = await asyncio.gather(ask(model, query("left?")), ask(model, query("right?")))

    assert (left.text, right.text) == ("left", "right")
