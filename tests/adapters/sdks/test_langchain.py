"""The middleware for LangChain, in real agents with a scripted chat model."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import ToolRuntime, tool
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from tests.support.adapter_contract import REPLY, AdapterContract, Calls, Seen, Tools, home_that_blocks
from treblehook import (
    Block,
    Home,
    Hooks,
    PreToolCall,
    PromptSubmitted,
    Rewrite,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    ToolFinished,
    TurnComplete,
)
from treblehook.adapters.langchain import TreblehookMiddleware


class Scripted(BaseChatModel):
    """Says `calls` first and `REPLY` from then on."""

    calls: Any
    requests: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.requests.append("\n".join(str(message.content) for message in messages))
        if len(self.requests) > 1 or not self.calls:
            return AIMessage(REPLY)
        return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"call_{i}"} for i, (n, a) in enumerate(self.calls)])

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        whole = self._next(messages)
        if whole.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=whole.tool_calls))
        else:
            for piece in (str(whole.content)[:3], str(whole.content)[3:]):
                yield ChatGenerationChunk(message=AIMessageChunk(piece))


class Sum(BaseModel):
    total: int


def scripted(calls: Calls) -> Scripted:
    return Scripted(calls=calls, requests=[])


def say(prompt: str) -> Any:
    return {"messages": [HumanMessage(prompt)]}


THREAD: Any = {"configurable": {"thread_id": "one"}}


class TestContract(AdapterContract):
    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        model, middleware = scripted(calls), TreblehookMiddleware(hooks)
        agent = create_agent(model, tools.all(), middleware=[middleware], checkpointer=InMemorySaver())
        reply = ""
        for prompt in prompts:
            if stream:
                async for _ in agent.astream(say(prompt), THREAD, stream_mode="messages"):
                    pass
                messages = (await agent.aget_state(THREAD)).values["messages"]
            else:
                messages = (await agent.ainvoke(say(prompt), THREAD))["messages"]
            reply = str(messages[-1].content)
        await middleware.aclose()
        return Seen(model.requests, reply)


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_without_await(inside_a_loop: bool) -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    hooks.on(SessionEnd)(told.append)

    @hooks.on(ToolFinished)
    async def patched(event: ToolFinished) -> Rewrite:
        return Rewrite(content=event.content + " at last")

    model = scripted([("bash", {"command": "ls"}), ("shout", {"text": "hey"})])
    agent = create_agent(model, [tools.bash, tools.shout], middleware=[TreblehookMiddleware(hooks)])

    async def inside() -> Any:
        return agent.invoke(say("hello"))

    result = asyncio.run(inside()) if inside_a_loop else agent.invoke(say("hello"))
    assert result["messages"][-1].content == REPLY
    assert tools.ran == [("shout", {"text": "hey"})]
    assert "no shell" in model.requests[1]
    assert "HEY at last" in model.requests[1]
    assert [type(event) for event in told] == [SessionEnd]


async def test_without_await_on_the_loop_of_a_home_is_an_error_not_a_deadlock(tmp_path: Path) -> None:
    async with Home(home_that_blocks(tmp_path, tool="bash", reason="no")) as home:
        agent = create_agent(scripted([]), middleware=[TreblehookMiddleware(home)])
        with pytest.raises(RuntimeError, match="would stall the event loop"):
            agent.invoke(say("hello"))


async def test_the_messages_say_which_calls_failed() -> None:
    hooks, tools = Hooks(), Tools()
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    agent = create_agent(scripted([("bash", {"command": "ls"})]), [tools.bash], middleware=[TreblehookMiddleware(hooks)])
    messages = (await agent.ainvoke(say("hello")))["messages"]
    told = [message for message in messages if isinstance(message, ToolMessage)]
    assert [(message.content, message.status, message.tool_call_id, message.name) for message in told] == [
        ("no shell", "error", "call_0", "bash")
    ]


async def test_the_message_of_a_command_is_patched() -> None:
    hooks, model = Hooks(), scripted([("dig", {})])

    @hooks.on(ToolFinished)
    def patched(event: ToolFinished) -> Rewrite:
        return Rewrite(content=event.content + " at last")

    @tool
    def dig(runtime: ToolRuntime) -> Command[Any]:
        """Dig."""
        return Command(update={"messages": [ToolMessage("gold", tool_call_id=runtime.tool_call_id)]})

    agent = create_agent(model, [dig], middleware=[TreblehookMiddleware(hooks)])
    await agent.ainvoke(say("hello"))
    assert "gold at last" in model.requests[1]


async def test_a_tool_that_raises_is_told_and_fails_as_before() -> None:
    hooks, told = Hooks(), []
    hooks.on(ToolFinished)(told.append)

    @tool
    def sink() -> str:
        """Sink."""
        raise OSError("the hull is gone")

    agent = create_agent(scripted([("sink", {})]), [sink], middleware=[TreblehookMiddleware(hooks)])
    with pytest.raises(OSError, match="the hull is gone"):
        await agent.ainvoke(say("hello"))
    assert [(event.content, event.is_error) for event in told] == [("the hull is gone", True)]


async def test_a_tool_that_waits_for_a_human_has_not_failed() -> None:
    hooks, told, model = Hooks(), [], scripted([("ask", {})])
    hooks.on(ToolFinished)(told.append)
    hooks.on(SessionStart)(told.append)

    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("may I?"))

    agent = create_agent(model, [ask], middleware=[TreblehookMiddleware(hooks)], checkpointer=InMemorySaver())
    await agent.ainvoke(say("hello"), THREAD)
    await agent.ainvoke(Command(resume="aye"), THREAD)
    assert [getattr(event, "content", "") for event in told] == ["", "aye"]
    assert "aye" in model.requests[1]


async def test_an_agent_in_a_tool_is_a_session_of_its_own() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, SubagentFinished, SessionEnd):
        hooks.on(kind)(told.append)
    middleware = TreblehookMiddleware(hooks)
    mate = create_agent(scripted([("bash", {"command": "ls"})]), tools.all(), middleware=[middleware])

    @tool
    async def delegate(task: str) -> str:
        """Delegate."""
        return str((await mate.ainvoke(say(task)))["messages"][-1].content)

    saver = InMemorySaver()
    captain = create_agent(scripted([("delegate", {"task": "scrub"})]), [delegate], middleware=[middleware], checkpointer=saver)
    assert (await captain.ainvoke(say("hello"), THREAD))["messages"][-1].content == REPLY
    await middleware.aclose()
    assert tools.ran == []
    parent, child = told[0].session, told[1].session
    assert [(type(event), event.session, event.spawned) for event in told] == [
        (SessionStart, parent, False),
        (SessionStart, child, True),
        (SubagentFinished, parent, False),
        (SessionEnd, child, True),
        (SessionEnd, parent, False),
    ]


async def test_a_reply_that_is_no_text_ends_the_turn_too() -> None:
    hooks, told = Hooks(), []
    hooks.on(TurnComplete)(told.append)
    model = scripted([("Sum", {"total": 3})])
    agent = create_agent(model, response_format=ToolStrategy(Sum), middleware=[TreblehookMiddleware(hooks)])
    assert (await agent.ainvoke(say("hello")))["structured_response"] == Sum(total=3)
    assert len(told) == 1


async def test_a_home_on_another_thread_s_loop_guards_calls_without_await(tmp_path: Path) -> None:
    tools, model = Tools(), scripted([("bash", {"command": "ls"}), ("shout", {"text": "hey"})])
    async with Home(home_that_blocks(tmp_path, tool="bash", reason="no shells aboard")) as home:
        agent = create_agent(model, [tools.bash, tools.shout], middleware=[TreblehookMiddleware(home)])
        result = await asyncio.to_thread(agent.invoke, say("hello"))
    assert result["messages"][-1].content == REPLY
    assert tools.ran == [("shout", {"text": "hey"})]
    assert "no shells aboard" in model.requests[1]


async def test_cancelling_a_run_ends_the_wait_for_a_hook() -> None:
    hooks, tools, asked = Hooks(), Tools(), asyncio.Event()

    @hooks.on(PreToolCall)
    async def slow(event: PreToolCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    agent = create_agent(scripted([("bash", {"command": "ls"})]), tools.all(), middleware=[TreblehookMiddleware(hooks)])
    run = asyncio.create_task(agent.ainvoke(say("hello")))
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run, 20)
    assert tools.ran == []


async def test_every_try_of_a_tool_is_asked_about_as_one_call() -> None:
    hooks, judged, told, tries = Hooks(), [], [], []
    hooks.on(PreToolCall)(judged.append)
    hooks.on(ToolFinished)(told.append)

    @tool
    def dig() -> str:
        """Dig."""
        tries.append(1)
        if len(tries) == 1:
            raise OSError("too hard")
        return "gold"

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    model = scripted([("dig", {})])
    await create_agent(model, [dig], middleware=[TreblehookMiddleware(hooks), retry]).ainvoke(say("hello"))
    assert len(tries) == 2
    assert (len(judged), [(event.content, event.is_error) for event in told]) == (1, [("gold", False)])


def no_secret(event: PromptSubmitted) -> Block | None:
    return Block("not a word of it") if "hunter2" in event.prompt else None


SECRET = HumanMessage("it is hunter2")


@pytest.mark.parametrize("given", [[SECRET, HumanMessage("go on")], [SECRET, SystemMessage("Be brief.")]], ids=["two", "system"])
async def test_a_prompt_is_all_that_the_user_has_said_since_the_last_reply(given: list[BaseMessage]) -> None:
    hooks, model = Hooks(), scripted([])
    hooks.on(PromptSubmitted)(no_secret)
    agent = create_agent(model, [], middleware=[TreblehookMiddleware(hooks)])
    result = await agent.ainvoke({"messages": given})
    assert result["messages"][-1].content == "not a word of it"
    assert "hunter2" not in str(result)
    assert model.requests == []


async def test_a_blocked_prompt_is_taken_out_of_a_history_that_the_program_keeps() -> None:
    hooks, model, history = Hooks(), scripted([]), [HumanMessage("ahoy")]
    hooks.on(PromptSubmitted)(no_secret)
    agent = create_agent(model, [], middleware=[TreblehookMiddleware(hooks)])
    for prompt in (SECRET, HumanMessage("so?")):
        history.append((await agent.ainvoke({"messages": history}))["messages"][-1])
        history.append(prompt)
    history.append((await agent.ainvoke({"messages": history}))["messages"][-1])
    assert history[-1].content == REPLY
    assert "hunter2" not in "".join(model.requests)
    assert "ahoy" in model.requests[-1]


class Unreachable(Scripted):
    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        raise ConnectionError


async def test_a_run_that_fails_leaves_no_turn_behind() -> None:
    hooks, sessions = Hooks(), []
    middleware = TreblehookMiddleware(hooks)
    begin = middleware._guard.session

    async def seen(key: str, *args: Any) -> Any:
        sessions.append(await begin(key, *args))
        return sessions[-1]

    middleware._guard.session = seen  # type: ignore[method-assign]  # to see what no hook is told of
    agent = create_agent(Unreachable(calls=[], requests=[]), [], middleware=[middleware], checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        await agent.ainvoke(say("hello"), THREAD)
    gc.collect()
    assert [session.in_turn for session in sessions] == [False]


@tool
def both(runtime: ToolRuntime) -> list[Any]:
    """Bring a message, and a command beside it."""
    return [ToolMessage("it says hunter2", tool_call_id=runtime.tool_call_id), Command(update={})]


@tool
def along(runtime: ToolRuntime) -> Any:
    """Bring a message along, and the conversation as it was."""
    result = ToolMessage("a note", tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [*runtime.state["messages"], result, HumanMessage("it says hunter2")]})


@pytest.mark.parametrize("one", [both, along], ids=["list", "messages"])
@pytest.mark.parametrize("redacts", [True, False])
async def test_all_that_a_tool_brings_is_its_result(one: Any, redacts: bool) -> None:
    hooks, model, finished = Hooks(), scripted([(one.name, {})]), []

    @hooks.on(ToolFinished)
    def redact(event: ToolFinished) -> Rewrite | None:
        finished.append(event.content)
        return Rewrite(content=event.content.replace("hunter2", "***")) if redacts else None

    await create_agent(model, [one], middleware=[TreblehookMiddleware(hooks)]).ainvoke(say("hello"))
    assert finished == ["it says hunter2" if one is both else "a note\nit says hunter2"]
    assert ("hunter2" in model.requests[1]) is not redacts
    assert ("it says ***" in model.requests[1]) is redacts
    assert model.requests[1].startswith("hello")
