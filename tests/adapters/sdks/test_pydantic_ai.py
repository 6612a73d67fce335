"""The capability for pydantic-ai, in real agents with a function in the model's place."""

from collections.abc import AsyncIterable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ModelRetry,
    RunContext,
    Tool,
    ToolReturn,
)
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelRequest, ModelResponse, TextPart

from tests.support.adapter_contract import REPLY, AdapterContract, Calls, Seen, Tools
from tests.support.pydantic_ai_model import Model
from treblehook import (
    Block,
    Continue,
    Home,
    Hooks,
    PreToolCall,
    PromptSubmitted,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    ToolFinished,
    TurnEnding,
)
from treblehook.adapters.pydantic_ai import PromptBlocked, TreblehookCapability


class TestContract(AdapterContract):
    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        model = Model(calls)
        capability: TreblehookCapability[None] = TreblehookCapability(hooks)
        agent = Agent(model.model(), tools=tools.all(), capabilities=[capability])
        reply, history = "", None
        for prompt in prompts:
            result = await agent.run(prompt, message_history=history, event_stream_handler=_read if stream else None)
            reply, history = result.output, result.all_messages()
        await capability.close()
        return Seen(model.requests, reply)


async def _read(ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
    async for _ in events:
        pass


async def test_a_reply_that_is_read_as_it_comes_cannot_be_sent_back() -> None:
    hooks, tools, model, ending = Hooks(), Tools(), Model([("bash", {"command": "ls"}), ("shout", {"text": "hey"})]), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)

    @hooks.on(TurnEnding)
    def again(event: TurnEnding) -> Continue:
        ending.append(event)
        return Continue("Name the palm.")

    agent = Agent(model.model(), tools=tools.all(), capabilities=[TreblehookCapability(hooks)])
    async with agent.run_stream("hello") as streamed:
        assert await streamed.get_output() == REPLY
    assert tools.ran == [("shout", {"text": "hey"})]
    assert len(model.requests) == 2
    assert [event.continuations for event in ending] == [0, 1]


class Sum(BaseModel):
    total: int


async def test_rewritten_arguments_are_checked_as_the_models_are() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("add", {"a": 1, "b": 2})])

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"a": "many", "b": 2})

    agent = Agent(model.model(), tools=tools.all(), capabilities=[TreblehookCapability(hooks)])
    await agent.run("hello")
    assert tools.ran == []
    assert "integer" in model.requests[1]


def test_without_an_event_loop() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("bash", {"command": "ls"})])
    hooks.on(PreToolCall)(no_shell)
    agent = Agent(model.model(), tools=tools.all(), capabilities=[TreblehookCapability(hooks)])
    assert agent.run_sync("hello").output == REPLY
    assert tools.ran == []
    assert "no shell" in model.requests[1]


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


async def test_a_blocked_prompt_of_a_structured_run_is_an_error_with_the_reason() -> None:
    hooks, model = Hooks(), Model([])

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block:
        return Block("not a word of it")

    agent = Agent(model.model(), output_type=Sum, capabilities=[TreblehookCapability(hooks)])
    with pytest.raises(PromptBlocked, match="not a word of it"):
        await agent.run("hello")
    assert model.requests == []


async def test_a_tool_that_fails_is_told_and_fails_as_before() -> None:
    hooks, model, told = Hooks(), Model([("sink", {})]), []
    hooks.on(ToolFinished)(told.append)

    async def sink() -> str:
        raise ModelRetry("the hull is gone")

    agent = Agent(model.model(), tools=[sink], capabilities=[TreblehookCapability(hooks)])
    await agent.run("hello")
    assert [(event.content, event.is_error) for event in told] == [("the hull is gone", True)]
    assert "the hull is gone" in model.requests[1]


async def test_a_value_that_no_hook_changes_stays_that_value() -> None:
    hooks, model, told = Hooks(), Model([("count", {})]), []
    hooks.on(ToolFinished)(told.append)

    async def count() -> ToolReturn:
        return ToolReturn(Sum(total=3), metadata={"kept": True})

    agent = Agent(model.model(), tools=[count], capabilities=[TreblehookCapability(hooks)])
    result = await agent.run("hello")
    returned = [part for message in result.all_messages() for part in message.parts if part.part_kind == "tool-return"]
    assert [event.content for event in told] == ['{"total":3}']
    assert returned[0].content == Sum(total=3)
    assert returned[0].metadata == {"kept": True}


async def test_conversations_are_sessions_of_their_own() -> None:
    hooks, told = Hooks(), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)
    capability: TreblehookCapability[None] = TreblehookCapability(hooks)
    agent = Agent(Model([]).model(), capabilities=[capability])
    for conversation in ("one", "two", "one"):
        await agent.run("hello", conversation_id=conversation)
    assert [type(event) for event in told] == [SessionStart, SessionStart]
    await capability.close()
    assert [type(event) for event in told[2:]] == [SessionEnd, SessionEnd]


async def test_a_replaced_call_needs_no_valid_arguments() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("add", {"a": "x"})])

    @hooks.on(PreToolCall)
    def instead(event: PreToolCall) -> Replace:
        return Replace("41")

    agent = Agent(model.model(), tools=[Tool(tools.add, max_retries=0)], capabilities=[TreblehookCapability(hooks)])
    await agent.run("hello")
    assert tools.ran == []
    assert "41" in model.requests[1]


async def test_dependencies_and_other_capabilities_stay_as_they_are() -> None:
    hooks, model = Hooks(), Model([("who", {})])

    def who(ctx: RunContext[str]) -> str:
        return ctx.deps

    agent = Agent(model.model(), deps_type=str, tools=[who], capabilities=[TreblehookCapability(hooks)])
    result = await agent.run("hello", deps="Long John")
    assert "Long John" in model.requests[1]
    assert isinstance(result.all_messages()[0], ModelRequest)


async def test_a_blocked_prompt_of_a_reply_that_is_read_as_it_comes() -> None:
    hooks, model = Hooks(), Model([])

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block:
        return Block("not a word of it")

    agent = Agent(model.model(), capabilities=[TreblehookCapability(hooks)])
    async with agent.run_stream("hunter2") as streamed:
        assert await streamed.get_output() == "not a word of it"
    assert model.requests == []
    assert "hunter2" not in str(streamed.all_messages())


def no_secret(event: PromptSubmitted) -> Block | None:
    return Block("not a word of it") if "hunter2" in event.prompt else None


SECRET = ModelRequest.user_text_prompt("it is hunter2")


@pytest.mark.parametrize("prompt", [None, "go on"])
async def test_a_prompt_may_come_as_the_end_of_the_history(prompt: str | None) -> None:
    hooks, model = Hooks(), Model([])
    hooks.on(PromptSubmitted)(no_secret)
    agent = Agent(model.model(), capabilities=[TreblehookCapability(hooks)])
    result = await agent.run(prompt, message_history=[SECRET])
    assert result.output == "not a word of it"
    assert "hunter2" not in result.all_messages_json().decode()
    assert model.requests == []


async def test_a_blocked_prompt_is_taken_out_of_a_history_that_the_program_keeps() -> None:
    hooks, model = Hooks(), Model([])
    hooks.on(PromptSubmitted)(no_secret)
    agent = Agent(model.model(), capabilities=[TreblehookCapability(hooks)])
    assert (await agent.run("it is hunter2")).output == "not a word of it"
    kept: list[ModelMessage] = [SECRET, ModelResponse(parts=[TextPart("not a word of it")])]
    assert (await agent.run("so?", message_history=kept)).output == REPLY
    assert "hunter2" not in model.requests[0]
    assert kept[0] is SECRET


async def test_what_a_tool_sends_along_with_its_result_is_judged_with_it() -> None:
    hooks, model = Hooks(), Model([("look", {})])

    @hooks.on(ToolFinished)
    def redact(event: ToolFinished) -> Rewrite:
        return Rewrite(content=event.content.replace("hunter2", "***"))

    def look() -> ToolReturn[str]:
        return ToolReturn("a note", content=["it says hunter2"])

    agent = Agent(model.model(), tools=[look], capabilities=[TreblehookCapability(hooks)])
    await agent.run("hello")
    assert "hunter2" not in model.requests[1]
    assert "it says ***" in model.requests[1]
