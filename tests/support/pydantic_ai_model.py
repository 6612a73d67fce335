"""A scripted model for agents of pydantic-ai."""

from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from tests.support.adapter_contract import REPLY, Calls


class Model:
    """Says `calls` first and `REPLY` from then on."""

    def __init__(self, calls: Calls, *, as_text: bool = False) -> None:
        self.calls = calls
        self.requests: list[str] = []
        self.as_text = as_text

    def _parts(self, messages: list[ModelMessage]) -> list[ToolCallPart | TextPart]:
        self.requests.append("\n".join(told(part) for message in messages for part in message.parts))
        if len(self.requests) > 1 or not self.calls:
            return [TextPart(REPLY)]
        return [ToolCallPart(name, arguments, f"call_{index}") for index, (name, arguments) in enumerate(self.calls)]

    def whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=self._parts(messages))

    async def streamed(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        for index, part in enumerate(self._parts(messages)):
            if isinstance(part, TextPart):
                yield part.content[:3]
                yield part.content[3:]
            else:
                text = part.args_as_json_str()
                yield {index: DeltaToolCall(part.tool_name, text[:5], tool_call_id=part.tool_call_id)}
                yield {index: DeltaToolCall(json_args=text[5:])}

    def model(self) -> FunctionModel:
        return FunctionModel(self.whole, stream_function=self.streamed)


def told(part: Any) -> str:
    return part.model_response_str() if hasattr(part, "model_response_str") else str(getattr(part, "content", ""))
