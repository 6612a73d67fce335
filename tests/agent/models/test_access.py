"""How a provider is reached: whose key goes along, and when a proxy stands in between."""

import pytest

from tests.agent.models.asking import ask, opened, query
from tests.support.fake_model import provider_environment
from tests.support.raw_server import Exchange, RawServer
from tests.support.wire_streams import WORDS, text_stream
from treblehook.agent.models import open_model
from treblehook.agent.models.access import find_access
from treblehook.agent.models.spec import PROVIDERS

NOWHERE = "http://127.0.0.1:9"


async def headers_of(word: str, environ: dict[str, str]) -> dict[str, str]:
    """The headers of a request, keys in lower case; `environ` gets the server's address."""
    heads: list[str] = []

    async def answer(exchange: Exchange) -> None:
        heads.append(exchange.head)
        await exchange.start_stream()
        await exchange.send(text_stream(word, "ahoy").whole)

    async with RawServer(answer) as server:
        addresses = {name: value for name, value in provider_environment(server.url).items() if name.endswith("_URL")}
        await ask(opened(word, addresses | environ), query("hi"))
    lines = heads[0].splitlines()[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}


@pytest.mark.parametrize(
    ("word", "variable", "header"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "authorization"),
        ("anthropic", "ANTHROPIC_AUTH_TOKEN", "authorization"),
        ("google", "GOOGLE_API_KEY", "x-goog-api-key"),
        ("google", "GEMINI_API_KEY", "x-goog-api-key"),
        ("openai", "OPENAI_API_KEY", "authorization"),
        ("openai-responses", "OPENAI_API_KEY", "authorization"),
    ],
)
async def test_the_given_key_goes_along_and_no_other(word: str, variable: str, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "somebody-else")

    sent = await headers_of(word, {variable: "secret"})

    keys = {name: value for name, value in sent.items() if name in ("x-api-key", "authorization", "x-goog-api-key")}
    assert keys == {header: "secret" if header == "x-goog-api-key" else "Bearer secret"}
    assert "somebody-else" not in " ".join(sent.values())


@pytest.mark.parametrize("word", WORDS)
async def test_a_proxy_does_not_stand_before_this_machine(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxies = {"HTTP_PROXY": NOWHERE, "https_proxy": NOWHERE, "ALL_PROXY": NOWHERE}
    for name, value in proxies.items():
        monkeypatch.setenv(name, value)
    keys = {name: value for name, value in provider_environment("").items() if name.endswith("_KEY")}

    headers = await headers_of(word, keys | proxies)

    assert headers["host"].startswith("127.0.0.1:")


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_provider_elsewhere_is_reached_through_the_proxy(variable: str) -> None:
    heads: list[str] = []

    async def answer(exchange: Exchange) -> None:
        heads.append(exchange.head)
        await exchange.start_stream()
        await exchange.send(text_stream("openai", "ahoy").whole)

    async with RawServer(answer) as proxy:
        environ = {"OPENAI_BASE_URL": "http://models.example/v1", variable: proxy.url.removeprefix("http://")}
        reply = await ask(open_model("openai:m", environ=environ), query("hi"))

    assert reply.text == "ahoy"
    assert heads[0].startswith("POST http://models.example/v1/chat/completions HTTP/1.1")


@pytest.mark.parametrize(
    ("exceptions", "proxy"),
    [
        ("models.example", None),
        ("example", None),
        (".example", None),
        ("*.example", None),
        ("other, Models.example", None),
        ("*", None),
        ("", NOWHERE),
        ("ample", NOWHERE),
        ("other.example", NOWHERE),
    ],
)
def test_what_is_excepted_is_reached_directly(exceptions: str, proxy: str | None) -> None:
    environ = {"OPENAI_BASE_URL": "http://models.example/v1", "HTTP_PROXY": NOWHERE, "NO_PROXY": exceptions}

    assert find_access("openai:m", PROVIDERS["openai"], environ).proxy == proxy


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(find_access("openai:m", PROVIDERS["openai"], {"OPENAI_API_KEY": "secret"}))
