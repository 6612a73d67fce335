"""One request to a provider, streamed."""

from collections.abc import AsyncGenerator
from typing import get_args

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponseStreamEvent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings, ThinkingEffort
from pydantic_ai.tools import ToolDefinition

from treblehook.agent.models.access import Access
from treblehook.agent.models.model import ModelFailed, ModelQuery, ModelReply
from treblehook.agent.models.wire.failures import failure_of
from treblehook.agent.models.wire.history import history_of
from treblehook.agent.models.wire.providers import build
from treblehook.agent.models.wire.replies import reply_of

# The others have no field for it: a tool's error is its text.
_WITH_ERROR_CHANNEL = ("anthropic", "google")
_EFFORTS: dict[str, ThinkingEffort] = {effort: effort for effort in get_args(ThinkingEffort)}


class Client:
    """Asks one model of one provider."""

    def __init__(self, spec: str, word: str, name: str, access: Access, silence: float) -> None:
        self._spec = spec
        self._access = access
        self._error_channel = word in _WITH_ERROR_CHANNEL
        self._model = build(word, name, access, silence)

    async def ask(self, query: ModelQuery) -> AsyncGenerator[str | ModelReply, None]:
        """The text as it streams in, and at the end the reply, whole. Raises `ModelFailed`."""
        settings = self._settings(query)
        try:
            history = history_of(query, error_channel=self._error_channel)
            async with model_request_stream(
                self._model, history, model_settings=settings, model_request_parameters=_parameters(query)
            ) as stream:
                async for event in stream:
                    if text := _text(event):
                        yield text
            response = stream.get()
        except Exception as error:
            raise failure_of(self._spec, self._access, error) from error
        yield reply_of(self._spec, response)

    def _settings(self, query: ModelQuery) -> ModelSettings:
        settings = ModelSettings()
        if query.max_tokens:
            settings["max_tokens"] = query.max_tokens
        if query.effort == "none":
            settings["thinking"] = False
        elif query.effort in _EFFORTS:
            settings["thinking"] = _EFFORTS[query.effort]
        elif query.effort:
            raise ModelFailed(self._spec, "rejected", f"no effort is called {query.effort!r}; allowed: none, {', '.join(_EFFORTS)}")
        return settings


def _parameters(query: ModelQuery) -> ModelRequestParameters:
    # Not strict: a strict schema is rewritten, and a tool's input is checked by the tool.
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters, strict=False)
        for tool in query.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def _text(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
