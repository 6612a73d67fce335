"""What the model says is heard while it says it, in a session as in a request alone."""

import asyncio

import pytest

from tests.support.fake_model import provider_environment
from tests.support.nest import Nest
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import text_stream
from treblehook.agent.models import open_model
from treblehook.home import sessions


async def test_a_listener_hears_the_first_words_before_the_last_are_said(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = text_stream("openai", "Under the", " third palm.")
    heard = asyncio.Event()
    text = nest.ears.text

    def hear(session: str, delta: str) -> None:
        text(session, delta)
        heard.set()

    async def answer(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.send(stream.head + stream.deltas[0])
        await heard.wait()
        await exchange.send(stream.deltas[1] + stream.tail)

    monkeypatch.setattr(nest.ears, "text", hear)
    async with RawServer(answer) as server:
        environ = provider_environment(server.url)
        monkeypatch.setattr(sessions, "open_model", lambda spec, **options: open_model(spec, environ=environ))
        session = await nest.open(model="openai:model-1")
        end = await session.prompt("where?")

    assert end.text == "Under the third palm."
    assert nest.ears.texts == [(session.id, "Under the"), (session.id, " third palm.")]
    assert nest.ears.of("reply")[0]["text"] == end.text


async def test_the_words_of_a_subagent_carry_its_own_session(nest: Nest) -> None:
    nest.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig"}}]}, {"text": "Gold!"}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}]
    )
    session = await nest.open()

    await session.prompt("go")

    said: dict[str, str] = {}
    for speaker, delta in nest.ears.texts:
        said[speaker] = said.get(speaker, "") + delta
    child = nest.ears.of("session")[1]["session"]
    assert said == {child: "Dug.", session.id: "Gold!"}
