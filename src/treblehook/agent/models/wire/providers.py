"""The library's model for each provider, built with our own address, key and proxy."""

import importlib
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import create_async_httpx2_client
from pydantic_ai.settings import ModelSettings, merge_model_settings

from treblehook.agent.models.access import Access

_MODULES = {
    "anthropic": ("models.anthropic", "providers.anthropic"),
    "google": ("models.google", "providers.google"),
    "openai": ("models.openai", "providers.openai", "providers.openai_compatible"),
    "openai-responses": ("models.openai", "providers.openai", "providers.openai_compatible"),
}
_CONNECT_SECONDS = 10.0


def load(word: str) -> None:
    """Import what `build` needs for a provider, its own library among it."""
    for module in _MODULES[word]:
        importlib.import_module(f"pydantic_ai.{module}")


def build(word: str, name: str, access: Access, silence: float) -> LibraryModel[Any]:
    """The library's model. `silence` bounds the wait for the next byte, in seconds."""
    http = _http_client(access, silence)
    # Retrying is ours alone, so that there is one policy.
    settings = ModelSettings(max_retries=0, timeout=silence)
    if word == "anthropic":
        return _anthropic(name, access, http, settings)
    if word == "google":
        return _google(name, access, http, settings)
    return _openai(word, name, access, http, settings)


def _http_client(access: Access, silence: float) -> httpx2.AsyncClient:
    """A client that keeps no idle connection: a handshake is small beside a model's answer, and nobody has to close it."""
    return create_async_httpx2_client(
        timeout=httpx2.Timeout(silence, connect=_CONNECT_SECONDS),
        transport=httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0), proxy=access.proxy),
    )


def _anthropic(name: str, access: Access, http: httpx2.AsyncClient, settings: ModelSettings) -> LibraryModel[Any]:
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=access.key, base_url=access.url, http_client=http)
    # The marks of what may be cached stand on the blocks; the newer field of the whole request is refused by other servers.
    cached = AnthropicModelSettings(anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True, anthropic_cache_messages=True)
    return AnthropicModel(name, provider=provider, settings=merge_model_settings(settings, cached))


def _google(name: str, access: Access, http: httpx2.AsyncClient, settings: ModelSettings) -> LibraryModel[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=access.key, base_url=access.url, http_client=http)
    return GoogleModel(name, provider=provider, settings=settings)


def _openai(word: str, name: str, access: Access, http: httpx2.AsyncClient, settings: ModelSettings) -> LibraryModel[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    host = urlsplit(access.url).hostname or ""
    provider: OpenAIProvider | OpenAICompatibleProvider
    if host.endswith(".openai.com"):
        provider = OpenAIProvider(api_key=access.key, base_url=access.url, http_client=http)
    else:
        # Other servers refuse some of what OpenAI itself knows. What a reply carries to be given back is bound to the host.
        provider = OpenAICompatibleProvider(host, api_key=access.key or None, base_url=access.url, http_client=http)
    model = OpenAIChatModel if word == "openai" else OpenAIResponsesModel
    return model(name, provider=provider, settings=settings)
