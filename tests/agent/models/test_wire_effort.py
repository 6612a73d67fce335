"""How hard a model shall think, in each provider's own words."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.agent.models.asking import ask, failure, user
from tests.support.fake_model import FakeModel
from treblehook.agent.models import ModelQuery, open_model

Start = Callable[[object], FakeModel]


def thinking(body: dict[str, Any]) -> list[object]:
    """What a body says of thinking, in the fields of every provider."""
    fields = (
        body.get("output_config", {}).get("effort"),
        body.get("reasoning_effort"),
        body.get("reasoning", {}).get("effort"),
        body.get("generationConfig", {}).get("thinkingConfig", {}).get("thinking_level"),
    )
    return [field for field in fields if field is not None]


@pytest.mark.parametrize(
    ("spec", "low"),
    [
        ("anthropic:claude-sonnet-5", "low"),
        ("google:gemini-3.5-flash", "LOW"),
        ("openai:gpt-6-sol", "low"),
        ("openai-responses:gpt-6-sol", "low"),
    ],
)
async def test_an_effort_is_sent_in_the_provider_s_own_field(spec: str, low: str, fake_model: Start) -> None:
    fake = fake_model([{"text": "x"}])
    model = open_model(spec, environ=fake.environ)

    await ask(model, ModelQuery("", (user("hi"),), effort="low"))
    await ask(model, ModelQuery("", (user("hi"),)))

    assert [thinking(body) for body in fake.bodies()] == [[low], []]


async def test_an_unknown_effort_is_refused_before_anything_is_sent(fake_model: Start) -> None:
    fake = fake_model([{"text": "x"}])

    failed = await failure(open_model("openai:m", environ=fake.environ), ModelQuery("", (user("hi"),), effort="huge"))

    assert (failed.kind, failed.retryable) == ("rejected", False)
    assert failed.detail == "no effort is called 'huge'; allowed: none, minimal, low, medium, high, xhigh, max"
    assert fake.requests() == []
