"""A provider that fails, from the socket to the exit status: one line, and a session that can be resumed."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import Ran
from tests.support.fake_model import FakeModel, provider_environment
from tests.support.provider_stage import ProviderStage
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, text_stream

Answer = Callable[[Exchange], Awaitable[None]]


def status(number: int) -> Answer:
    """An error of the provider, in words of its own."""

    async def answer(exchange: Exchange) -> None:
        error = {"type": "error", "error": {"type": "api_error", "code": number, "message": "the tide is high", "status": "TIDE"}}
        await exchange.answer(number, json.dumps(error).encode(), "retry-after: 0")

    return answer


def stream(content: bytes) -> Answer:
    """A stream that ends with the connection."""

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(content)

    return answer


def said(word: str, text: str) -> Answer:
    return stream(text_stream(word, text).whole)


def cut(word: str) -> Answer:
    """The middle of a reply, and then nothing."""
    whole = text_stream(word, "Under the third", " palm.")
    return stream(whole.head + whole.deltas[0])


def nonsense(word: str) -> Answer:
    return stream(b"data: {this is no JSON\n\n")


class Shore:
    """A stage whose provider answers one request after another with what a test gives it, the last one for ever."""

    def __init__(self, stage: ProviderStage) -> None:
        self.stage = stage
        self.bodies: list[dict[str, Any]] = []

    async def run(self, answers: Sequence[Answer], *arguments: str) -> Ran:
        """Run the command against a provider that gives these answers."""
        left = list(answers)

        async def answer(exchange: Exchange) -> None:
            self.bodies.append(json.loads(exchange.body))
            await (left.pop(0) if len(left) > 1 else left[0])(exchange)

        async with RawServer(answer) as server:
            return await self.run_at(server.url, *arguments)

    async def run_at(self, url: str, *arguments: str) -> Ran:
        return await asyncio.to_thread(self.stage.run, "run", *arguments, **provider_environment(url))

    async def goes_on(self) -> None:
        """The one session there is can be resumed, and the failed prompt is still in it."""
        (file,) = self.stage.sessions()
        assert file.read_bytes().endswith(b"\n")
        ran = await self.run([said(self.stage.word, "Here I am.")], "once more", "--resume", file.stem)
        assert (ran.status, ran.out) == (0, "Here I am.\n"), ran
        sent = json.dumps(self.bodies[-1])
        assert sent.index("where is it?") < sent.index("once more")
        assert '"status":"finished"' in file.read_text().splitlines()[-1]


@pytest.fixture
def shore(request: pytest.FixtureRequest, tmp_path: Path, fake_model: Callable[[object], FakeModel]) -> Shore:
    return Shore(ProviderStage(tmp_path, request.param, fake_model))


def told(ran: Ran) -> list[str]:
    """The lines of stderr, but for those that only say what is being waited for."""
    return [line for line in ran.err.splitlines() if not line.startswith("waiting for ")]


def assert_failed(shore: Shore, ran: Ran, *words: str, out: str = "") -> None:
    """Exit status 1, and a last line that says all, after one line for each time that it was asked again."""
    assert (ran.status, ran.out) == (1, out), ran
    *again, last = told(ran)
    assert last.startswith(f"failed: {shore.stage.spec}: ")
    for word in words:
        assert word in last
    assert all("; asking again in " in line for line in again)
    assert "Traceback" not in ran.err
    end = json.loads(shore.stage.sessions()[0].read_text().splitlines()[-1])
    assert (end["type"], end["status"]) == ("end", "failed")
    assert last == f"failed: {end['reason']}"


@pytest.mark.parametrize("shore", WORDS, indirect=True)
async def test_a_wrong_key(shore: Shore) -> None:
    ran = await shore.run([status(401)], "where is it?")

    assert_failed(shore, ran, "HTTP 401", "the tide is high", "_API_KEY")
    assert len(shore.bodies) == 1
    await shore.goes_on()


@pytest.mark.parametrize("shore", ["openai"], indirect=True)
async def test_nobody_listens(shore: Shore) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ran = await shore.run_at(f"http://127.0.0.1:{taken.getsockname()[1]}", "where is it?")

    assert_failed(shore, ran, "cannot connect", "Connection refused", "asked 4 times")
    assert len(told(ran)) == 4
    await shore.goes_on()


@pytest.mark.parametrize("shore", ["anthropic"], indirect=True)
async def test_a_stream_that_is_cut(shore: Shore) -> None:
    ran = await shore.run([cut(shore.stage.word)], "where is it?")

    # What was heard of the last attempt, once.
    assert_failed(shore, ran, "asked 4 times", out="Under the third\n")
    assert len(shore.bodies) == 4
    await shore.goes_on()


@pytest.mark.parametrize("shore", ["google"], indirect=True)
async def test_a_reply_that_cannot_be_read(shore: Shore) -> None:
    ran = await shore.run([nonsense(shore.stage.word)], "where is it?")

    assert_failed(shore, ran)
    await shore.goes_on()


@pytest.mark.parametrize(
    ("shore", "number"), [("anthropic", 529), ("google", 429), ("openai", 429), ("openai-responses", 529)], indirect=["shore"]
)
async def test_a_provider_that_is_busy_is_asked_again_and_that_is_said(shore: Shore, number: int) -> None:
    ran = await shore.run([status(number), status(number), said(shore.stage.word, "Under a palm.")], "where is it?")

    assert ran.status == 0, ran
    assert ran.out == "Under a palm.\n"
    assert len(told(ran)) == 2
    assert all(f"HTTP {number}" in line and "; asking again in 0.0 s" in line for line in told(ran))
    assert len(shore.bodies) == 3


@pytest.mark.parametrize("shore", ["anthropic"], indirect=True)
async def test_a_failure_after_tools_have_run_keeps_what_they_did(shore: Shore) -> None:
    (shore.stage.workspace / "map.txt").write_text("x marks the spot\n")
    shore.stage.fake.play({"turns": [{"tools": [{"name": "read", "args": {"path": "map.txt"}}]}, {"status": 400, "error": "enough"}]})
    failed = await shore.run_at(shore.stage.fake.url, "where is it?")
    assert failed.status == 1
    (file,) = shore.stage.sessions()

    await shore.goes_on()

    assert "x marks the spot" in json.dumps(shore.bodies[-1])
    assert file.read_text().count('"type":"tool_result"') == 1


@pytest.mark.parametrize("shore", ["anthropic", "openai"], indirect=True)
async def test_half_a_character_of_a_provider_does_no_harm(shore: Shore) -> None:
    half = text_stream(shore.stage.word, "Under HALF palm.").whole.replace(b"HALF", rb"\ud83d")

    ran = await shore.run([stream(half)], "where is it?")

    assert (ran.status, ran.out) == (0, "Under � palm.\n"), ran
    await shore.goes_on()
    assert "Under � palm." in json.dumps(shore.bodies[-1], ensure_ascii=False)
