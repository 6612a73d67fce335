"""A model of a provider, reached over HTTP. The libraries for that are loaded by the first request, not before."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from treblehook.agent.models.access import Access
from treblehook.agent.models.model import ModelFailed, ModelQuery, ModelReply

if TYPE_CHECKING:
    from treblehook.agent.models.wire.client import Client

# How long a provider may be silent, in seconds: before the first byte and between two of a stream.
SILENCE = 600.0


def load_wire(word: str) -> "type[Client]":
    """Import everything that a provider's requests need, which takes seconds the first time."""
    from treblehook.agent.models.wire.client import Client
    from treblehook.agent.models.wire.providers import load

    load(word)
    return Client


class ProviderModel:
    """A model behind `provider:name`. It keeps no connection between requests, so there is nothing to close."""

    def __init__(self, spec: str, word: str, name: str, access: Access, window: int | None, silence: float = SILENCE) -> None:
        self.spec = spec
        self.window = window
        self._word = word
        self._name = name
        self._access = access
        self._silence = silence
        self._client: Client | None = None

    async def reply(self, query: ModelQuery, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once; see `Model.reply`."""
        async with aclosing((await self._connected()).ask(query)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelReply):
                    return piece
                on_text(piece)
        raise AssertionError("a stream ends with its reply or a failure")

    async def _connected(self) -> "Client":
        if self._client is None:
            try:
                # The event loop goes on meanwhile.
                client = await asyncio.to_thread(self._load)
            except ImportError as error:
                raise ModelFailed(self.spec, "rejected", f"{error}; to mend it: pip install 'treblehook[models]'") from error
            self._client = self._client or client
        return self._client

    def _load(self) -> "Client":
        return load_wire(self._word)(self.spec, self._word, self._name, self._access, self._silence)
