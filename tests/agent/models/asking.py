"""Short ways to ask a model."""

from collections.abc import Mapping

import pytest

from treblehook.agent.models import Model, ModelFailed, ModelQuery, ModelReply, open_model
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message

BASH = ToolSpec(
    "bash",
    "Runs a command.",
    {"type": "object", "properties": {"command": {"type": "string"}, "timeout_ms": {"type": "integer"}}, "required": ["command"]},
)
READ = ToolSpec("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


def user(text: str) -> Message:
    return Message("user", text)


def assistant(reply: ModelReply) -> Message:
    """A reply as the agent keeps it."""
    return Message("assistant", reply.text, calls=reply.calls, raw=reply.raw)


def query(*messages: Message | str, system: str = "Be brief.", tools: tuple[ToolSpec, ...] = (BASH, READ)) -> ModelQuery:
    """A request; a string is a prompt."""
    return ModelQuery(system, tuple(user(message) if isinstance(message, str) else message for message in messages), tools)


async def ask(model: Model, asked: ModelQuery) -> ModelReply:
    """The reply to a request whose stream nobody watches."""
    return await model.reply(asked, lambda text: None)


async def failure(model: Model, asked: ModelQuery) -> ModelFailed:
    """How a request fails."""
    with pytest.raises(ModelFailed) as caught:
        await ask(model, asked)
    assert "\n" not in str(caught.value)
    return caught.value


def opened(word: str, environ: Mapping[str, str]) -> Model:
    """A model of a provider, with a name that says nothing."""
    return open_model(f"{word}:model-1", environ=environ)
