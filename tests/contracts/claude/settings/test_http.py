"""HTTP hooks: what is posted, and which variables headers may name."""

import json
from typing import Any

from tests.support.raw_server import Exchange, RawServer
from tests.support.settings_rig import SettingsRig, context_texts


async def posted(rig: SettingsRig, answer: bytes, **entry: Any) -> tuple[str, Any, list[str]]:
    """The head, the payload, and the contexts that came of the answer."""
    heard: list[Exchange] = []

    async def reply(exchange: Exchange) -> None:
        heard.append(exchange)
        await exchange.answer(200, answer)

    async with RawServer(reply) as server:
        rig.entry("UserPromptSubmit", {"type": "http", "url": f"{server.url}/hooks/prompt?who=a", **entry})
        outcome = await rig.prompted("dig")
    return heard[0].head, json.loads(heard[0].body), context_texts(outcome)


async def test_the_payload_is_posted_as_json(rig: SettingsRig) -> None:
    head, payload, contexts = await posted(rig, b"ebb at six")

    assert head.startswith("POST /hooks/prompt?who=a HTTP/1.1\r\n")
    assert "content-type: application/json" in head.lower()
    assert (payload["hook_event_name"], payload["prompt"]) == ("UserPromptSubmit", "dig")
    assert contexts == ["ebb at six"]


async def test_headers_name_only_variables_that_they_may(rig: SettingsRig) -> None:
    headers = {"x-digger": "$DIGGER and ${DIGGER}", "x-secret": "<$SECRET|${SECRET}>", "x-cost": "5$"}

    head, _, _ = await posted(rig, b"", headers=headers, allowedEnvVars=["DIGGER", "UNSET"])

    assert "x-digger: Anne and Anne\r\n" in head
    assert "x-secret: <|>\r\n" in head
    assert "x-cost: 5$\r\n" in head


async def test_an_answer_without_end_opens(rig: SettingsRig) -> None:
    _, _, contexts = await posted(rig, b"x" * 2_000_000)

    assert contexts == []
    [error] = rig.errors()
    assert "longer than" in error


async def test_a_header_that_cannot_be_sent_opens(rig: SettingsRig) -> None:
    rig.entry("UserPromptSubmit", {"type": "http", "url": "http://127.0.0.1:9", "headers": {"x": "a\nb"}})

    assert context_texts(await rig.prompted()) == []
    assert len(rig.errors()) == 1
