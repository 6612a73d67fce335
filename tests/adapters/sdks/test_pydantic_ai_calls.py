"""Calls under the capability for pydantic-ai that wait, fail, are cancelled, or run agents."""

import asyncio

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelRetry,
    RunContext,
    Tool,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.support.adapter_contract import REPLY, Tools
from tests.support.pydantic_ai_model import Model, told
from treblehook import (
    Block,
    Hooks,
    PreToolCall,
    Rewrite,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolFinished,
    TurnComplete,
)
from treblehook.adapters.pydantic_ai import TreblehookCapability


class Sum(BaseModel):
    total: int


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


async def test_an_agent_in_a_tool_is_a_session_of_its_own() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, SubagentFinished, SessionEnd):
        hooks.on(kind)(told.append)
    capability: TreblehookCapability[None] = TreblehookCapability(hooks)
    mate = Agent(Model([("bash", {"command": "ls"})]).model(), tools=tools.all(), capabilities=[capability])

    async def delegate(task: str) -> str:
        return (await mate.run(task)).output

    captain = Agent(Model([("delegate", {"task": "scrub"})]).model(), tools=[delegate], capabilities=[capability])
    assert (await captain.run("hello")).output == REPLY
    await capability.close()
    assert tools.ran == []
    parent, child = told[0].session, told[1].session
    assert [(type(event), event.session, event.spawned) for event in told] == [
        (SessionStart, parent, False),
        (SessionStart, child, True),
        (SubagentFinished, parent, False),
        (SessionEnd, child, True),
        (SessionEnd, parent, False),
    ]


async def test_a_call_that_waits_for_approval_has_not_failed_and_is_judged_when_it_runs() -> None:
    hooks, model, told, ran = Hooks(), Model([("sail", {"to": "Norman"})]), [], []
    hooks.on(ToolFinished)(told.append)

    @hooks.on(PreToolCall)
    def elsewhere(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"to": event.call.input["to"].upper()})

    def sail(to: str) -> str:
        ran.append(to)
        return f"at {to}"

    agent = Agent(
        model.model(),
        output_type=[str, DeferredToolRequests],
        tools=[Tool(sail, requires_approval=True)],
        capabilities=[TreblehookCapability(hooks)],
    )
    first = await agent.run("hello")
    assert isinstance(first.output, DeferredToolRequests)
    assert (ran, told) == ([], [])
    approved = DeferredToolResults(approvals={first.output.approvals[0].tool_call_id: True})
    last = await agent.run(message_history=first.all_messages(), deferred_tool_results=approved)
    assert last.output == REPLY
    assert ran == ["NORMAN"]
    assert [(event.content, event.is_error) for event in told] == [("at NORMAN", False)]


async def test_a_tool_that_asks_for_approval_itself_has_not_failed() -> None:
    hooks, model, told = Hooks(), Model([("sail", {})]), []
    hooks.on(ToolFinished)(told.append)

    def sail(ctx: RunContext[None]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "sailed"

    agent = Agent(model.model(), output_type=[str, DeferredToolRequests], tools=[sail], capabilities=[TreblehookCapability(hooks)])
    first = await agent.run("hello")
    assert isinstance(first.output, DeferredToolRequests)
    assert told == []
    approved = DeferredToolResults(approvals={first.output.approvals[0].tool_call_id: True})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=approved)
    assert [(event.content, event.is_error) for event in told] == [("sailed", False)]


async def test_a_reply_that_is_no_text_ends_the_turn_too() -> None:
    hooks, told = Hooks(), []
    hooks.on(TurnComplete)(told.append)
    agent = Agent(Model([("final_result", {"total": 3})]).model(), output_type=Sum, capabilities=[TreblehookCapability(hooks)])
    assert (await agent.run("hello")).output == Sum(total=3)
    assert [event.reply for event in told] == ['{"total":3}']


async def test_every_try_of_a_tool_is_judged() -> None:
    hooks, judged, tries = Hooks(), [], []
    hooks.on(PreToolCall)(judged.append)

    def dig() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ModelRetry("deeper")
        return "gold"

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = "gold" in "".join(told(part) for message in messages for part in message.parts)
        return ModelResponse(parts=[TextPart(REPLY) if done else ToolCallPart("dig", {})])

    await Agent(FunctionModel(model), tools=[dig], capabilities=[TreblehookCapability(hooks)]).run("hello")
    assert len(tries) == len(judged) == 2


async def test_cancelling_a_run_ends_the_wait_for_a_hook() -> None:
    hooks, tools, asked = Hooks(), Tools(), asyncio.Event()

    @hooks.on(PreToolCall)
    async def slow(event: PreToolCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    agent = Agent(Model([("bash", {"command": "ls"})]).model(), tools=tools.all(), capabilities=[TreblehookCapability(hooks)])
    run = asyncio.create_task(agent.run("hello"))
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run, 20)
    assert tools.ran == []


async def test_the_tools_of_a_toolset_are_guarded() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("sea_bash", {"command": "ls"})])
    hooks.on(PreToolCall, pattern="*_bash")(no_shell)
    agent = Agent(model.model(), toolsets=[FunctionToolset(tools.all()).prefixed("sea")], capabilities=[TreblehookCapability(hooks)])
    await agent.run("hello")
    assert tools.ran == []
    assert "no shell" in model.requests[1]
