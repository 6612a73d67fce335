"""A model whose use is counted by this host, as the contract has it (murmur.md 3.5): what is sent as a whole, and what comes back."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from treblehook.agent.models.model import Model, ModelQuery, ModelReply
from treblehook.lifecycle import Message


class CountedModel:
    """Asks `model` and counts with `count`; `window` is the capsule's, None where it names none."""

    def __init__(self, model: Model, count: Callable[[str], int], window: int | None) -> None:
        self.spec = model.spec
        self.window = window
        self._model = model
        self._count = count

    async def reply(self, query: ModelQuery, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once; see `Model.reply`."""
        reply = await self._model.reply(query, on_text)
        received = _tokens({"text": reply.text, "calls": reply.calls}, self._count)
        return replace(reply, usage=replace(reply.usage, input=request_tokens(query, self._count), output=received))


def request_tokens(query: ModelQuery, count: Callable[[str], int]) -> int:
    """What a request takes of the window."""
    sent = {"system": query.system, "messages": [unnamed(message) for message in query.messages], "tools": query.tools}
    return _tokens(sent, count)


def _tokens(value: Any, count: Callable[[str], int]) -> int:
    return count(msgspec.json.encode(value).decode())


def unnamed(message: Message) -> Message:
    """A message without what no provider is sent."""
    return replace(message, id="", source="", source_id="", hook="", tags=(), raw="")
