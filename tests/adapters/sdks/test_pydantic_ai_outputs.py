"""Functions that make the output of a run of pydantic-ai, under the capability: a model calls them as it calls tools."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import Agent, PromptedOutput, TextOutput, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from tests.support.pydantic_ai_model import told
from treblehook import Block, Hooks, PreToolCall, PromptSubmitted, Rewrite, ToolFinished
from treblehook.adapters.pydantic_ai import PromptBlocked, TreblehookCapability

GIVEN = '{"command": "rm chest"}'


class Outputs:
    """Functions of a user; `ran` says with what they were run. The model answers as each of them wants it."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.requests: list[str] = []
        self.kinds: dict[str, Any] = {"called": self.bash, "text": TextOutput(self.shout), "json": PromptedOutput(self.bash)}

    def bash(self, command: str) -> str:
        """Run a command."""
        self.ran.append(command)
        return f"ran {command}"

    def shout(self, text: str) -> str:
        """Say it loudly."""
        self.ran.append(text)
        return text.upper()

    def agent(self, hooks: Hooks, kind: str) -> Agent[None, Any]:
        def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.requests.append("\n".join(told(part) for message in messages for part in message.parts))
            if kind == "called":
                return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, GIVEN, "call")])
            return ModelResponse(parts=[TextPart("rm chest" if kind == "text" else GIVEN)])

        async def streamed(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
            for part in whole(messages, info).parts:
                if isinstance(part, ToolCallPart):
                    yield {0: DeltaToolCall(part.tool_name, GIVEN[:18], tool_call_id="call")}
                    yield {0: DeltaToolCall(json_args=GIVEN[18:])}
                elif isinstance(part, TextPart):
                    yield part.content[:4]
                    yield part.content[4:]

        model = FunctionModel(whole, stream_function=streamed)
        return Agent(model, output_type=self.kinds[kind], capabilities=[TreblehookCapability(hooks)])


KINDS = pytest.mark.parametrize("kind", ["called", "text", "json"])


@KINDS
async def test_a_function_that_may_not_run_does_not_and_the_model_sees_why(kind: str) -> None:
    hooks, outputs = Hooks(), Outputs()

    @hooks.on(PreToolCall)
    def no(event: PreToolCall) -> Block:
        return Block(f"no {event.call.name}")

    with pytest.raises(UnexpectedModelBehavior):
        await outputs.agent(hooks, kind).run("hello")
    with pytest.raises(UnexpectedModelBehavior):
        async with outputs.agent(hooks, kind).run_stream("hello") as streamed:
            await streamed.get_output()
    assert outputs.ran == []
    assert f"no {'shout' if kind == 'text' else 'bash'}" in outputs.requests[1]


@KINDS
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_function_runs_once_with_what_hooks_left_of_its_arguments(kind: str, stream: bool) -> None:
    hooks, outputs, finished = Hooks(), Outputs(), []
    hooks.on(ToolFinished)(finished.append)

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={key: value.replace("chest", "sail") for key, value in event.call.input.items()})

    agent = outputs.agent(hooks, kind)
    if stream:
        async with agent.run_stream("hello") as streamed:
            made = [output async for output in streamed.stream_output(debounce_by=None)][-1]
    else:
        made = (await agent.run("hello")).output
    assert outputs.ran == ["rm sail"]
    assert made == ("RM SAIL" if kind == "text" else "ran rm sail")
    assert [event.content for event in finished] == [made]


@KINDS
async def test_a_blocked_prompt_runs_no_function(kind: str) -> None:
    hooks, outputs = Hooks(), Outputs()

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block:
        return Block("not a word of it")

    with pytest.raises(PromptBlocked, match="not a word of it"):
        await outputs.agent(hooks, kind).run("hello")
    assert outputs.ran == []
    assert outputs.requests == []
