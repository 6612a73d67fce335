"""The guard for the OpenAI Agents SDK, in real runs with that SDK's scripted model."""

import asyncio
import gc
import json
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    AgentHooks,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    RunConfig,
    Runner,
    ShellTool,
    SQLiteSession,
    function_tool,
    handoff,
)
from agents.mcp import MCPServerStdio
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from tests.support.adapter_contract import REPLY, AdapterContract, Calls, Seen, Tools
from treblehook import (
    AddContext,
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
)
from treblehook.adapters.guarded import Guarded
from treblehook.adapters.openai_agents import TreblehookGuard
from treblehook.adapters.openai_tools import ToolNotGuarded

TINY_MCP = Path(__file__).parents[2] / "rig" / "tiny_mcp.py"
QUIET = RunConfig(tracing_disabled=True)


class Model(ScriptedModel):
    """Says `calls` first and `REPLY` from then on."""

    def __init__(self, calls: Calls) -> None:
        self.requests: list[str] = []
        self._calls_to_make = calls
        super().__init__([ModelStep.respond(self._next) for _ in range(6)])

    def _next(self, call: ModelCall) -> Any:
        self.requests.append(f"{call.system_instructions}\n{json.dumps(call.input)}")
        if len(self.requests) > 1 or not self._calls_to_make:
            return [assistant_message(REPLY)]
        return [function_call(name, given, call_id=f"{name}_{index}") for index, (name, given) in enumerate(self._calls_to_make)]


async def ask(agent: Agent[Any], prompt: str, *, stream: bool = False, session: Any = None, forget: bool = True) -> str:
    try:
        if not stream:
            return str((await Runner.run(agent, prompt, run_config=QUIET, session=session)).final_output)
        result = Runner.run_streamed(agent, prompt, run_config=QUIET, session=session)
        async for _ in result.stream_events():
            pass
    except InputGuardrailTripwireTriggered as blocked:
        if session is not None and forget:
            await session.pop_item()
        return str(blocked.guardrail_result.output.output_info)
    return str(result.final_output)


def the_one(context: Any) -> str:
    return "one"


class TestContract(AdapterContract):
    continues = False

    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        model, guard = Model(calls), TreblehookGuard(hooks, conversation=the_one)
        agent = guard.agent(Agent("sailor", model=model, instructions="Be brief.", tools=[function_tool(tool) for tool in tools.all()]))
        session = SQLiteSession("one")
        replies = [await ask(agent, prompt, stream=stream, session=session) for prompt in prompts]
        await guard.close()
        return Seen(model.requests, replies[-1])


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


def test_without_an_event_loop() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("bash", {"command": "ls"})])
    hooks.on(PreToolCall)(no_shell)
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[function_tool(tools.bash)]))
    assert Runner.run_sync(agent, "hello", run_config=QUIET).final_output == REPLY
    assert tools.ran == []
    assert "no shell" in model.requests[1]


async def test_a_blocked_prompt_that_the_session_keeps_blocks_the_conversation() -> None:
    hooks, model = Hooks(), Model([])

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "hunter2" in event.prompt else None

    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model))
    session = SQLiteSession("one")
    assert await ask(agent, "ahoy", session=session) == REPLY
    assert await ask(agent, "it is hunter2", session=session, forget=False) == "not a word of it"
    assert "pop_item" in await ask(agent, "so?", session=session)
    assert await ask(agent, "ahoy", session=SQLiteSession("two")) == REPLY
    assert "hunter2" not in "".join(model.requests)
    await session.pop_item()
    assert await ask(agent, "so?", session=session) == REPLY


async def test_a_run_is_a_session_and_ends_with_its_reply() -> None:
    hooks, told = Hooks(), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=Model([])))
    await ask(agent, "hello")
    await ask(agent, "hello")
    assert [type(event) for event in told] == [SessionStart, SessionEnd, SessionStart, SessionEnd]
    assert told[0].session != told[2].session


@pytest.mark.parametrize("wrapped", [False, True])
async def test_an_agent_that_is_handed_over_to_is_guarded_too(wrapped: bool) -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    hooks.on(SessionStart)(told.append)
    mate_model = Model([("bash", {"command": "ls"})])
    mate = Agent("mate", model=mate_model, tools=[function_tool(tools.bash)])
    captain = Agent("captain", model=Model([("transfer_to_mate", {})]), handoffs=[handoff(mate) if wrapped else mate])
    mate.handoffs = [captain]
    agent = TreblehookGuard(hooks).agent(captain)
    assert await ask(agent, "hello") == REPLY
    assert tools.ran == []
    assert "no shell" in mate_model.requests[1]
    assert len(told) == 1


async def test_an_agent_that_is_a_tool_is_a_session_of_its_own() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, SubagentFinished, SessionEnd):
        hooks.on(kind)(told.append)
    guard = TreblehookGuard(hooks, conversation=the_one)
    mate_model = Model([("bash", {"command": "ls"})])
    mate = guard.agent(Agent("mate", model=mate_model, tools=[function_tool(tools.bash)]))
    calls = [("mate", {"input": "scrub"}), ("mate", {"input": "sweep"})]
    captain = guard.agent(Agent("captain", model=Model(calls), tools=[mate.as_tool("mate", "The mate.")]))
    assert await ask(captain, "hello") == REPLY
    await guard.close()
    assert tools.ran == []
    parent = told[0].session
    children = {event.session for event in told if isinstance(event, SessionStart) and event.spawned}
    assert len(children) == 2
    assert {event.subagent for event in told if isinstance(event, SubagentFinished) and event.session == parent} == children
    assert [event.session for event in told if isinstance(event, SessionEnd)][-1] == parent


async def test_an_agent_that_is_a_tool_must_be_guarded() -> None:
    tool = Agent("mate").as_tool("mate", "The mate.")
    with pytest.raises(ToolNotGuarded, match=r"guard\.agent"):
        TreblehookGuard(Hooks()).agent(Agent("captain", tools=[tool]))


async def test_a_copy_of_a_guarded_agent_is_guarded() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("bash", {"command": "ls"})])
    hooks.on(PreToolCall)(no_shell)
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[function_tool(tools.bash)])).clone(name="twin")
    await ask(agent, "hello")
    assert tools.ran == []


async def test_a_tool_that_raises_is_told_and_fails_as_before() -> None:
    hooks, told, model = Hooks(), [], Model([("sink", {})])
    hooks.on(ToolFinished)(told.append)

    @function_tool(failure_error_function=None)
    def sink() -> str:
        raise OSError("the hull is gone")

    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[sink]))
    with pytest.raises(Exception, match="the hull is gone"):
        await ask(agent, "hello")
    assert [(event.content, event.is_error) for event in told] == [("the hull is gone", True)]


def say(context: Any, error: Exception) -> str:
    return f"sorry, {error}"


async def say_later(context: Any, error: Exception) -> str:
    return f"sorry, {error}"


@pytest.mark.parametrize("how", [None, say, say_later])
async def test_a_tool_whose_error_is_said_to_the_model_has_failed(how: Any) -> None:
    hooks, told, model = Hooks(), [], Model([("sink", {})])

    @hooks.on(ToolFinished)
    def patched(event: ToolFinished) -> Rewrite:
        told.append(event)
        return Rewrite(content=f"{event.content} aye")

    def sink() -> str:
        raise OSError("the hull is gone")

    tool = function_tool(sink) if how is None else function_tool(sink, failure_error_function=how)
    await ask(TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[tool])), "hello")
    assert [event.is_error for event in told] == [True]
    assert " aye" in model.requests[1]


async def test_a_run_that_fails_does_not_stay_in_its_turn() -> None:
    told: list[Guarded] = []

    class Watched(TreblehookGuard):
        async def session(self, run: Any, agent: Any) -> Guarded:
            told.append(await super().session(run, agent))
            return told[-1]

    model = Model([("bash", {"command": "ls"})])
    agent = Watched(Hooks()).agent(Agent("sailor", model=model, tools=[function_tool(Tools().bash)]))
    with pytest.raises(MaxTurnsExceeded):
        await Runner.run(agent, "hello", run_config=QUIET, max_turns=1)
    assert told[0].in_turn
    gc.collect()
    assert not told[0].in_turn
    assert told[0].is_open


async def test_a_tool_that_is_added_later_is_guarded() -> None:
    hooks, tools = Hooks(), Tools()
    hooks.on(PreToolCall)(no_shell)
    model = Model([("bash", {"command": "ls"})])
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model))
    agent.tools = [function_tool(tools.bash)]
    await ask(agent, "hello")
    assert tools.ran == []


async def test_the_tools_of_an_mcp_server_are_guarded() -> None:
    hooks, told, model = Hooks(), [], Model([("echo", {"text": "ahoy"}), ("hook", {"text": "aye"})])

    @hooks.on(PreToolCall, pattern="hook")
    def guard(event: PreToolCall) -> Block:
        return Block("no hooks aboard")

    @hooks.on(ToolFinished)
    def patched(event: ToolFinished) -> Rewrite:
        told.append(event)
        return Rewrite(content="patched")

    async with MCPServerStdio({"command": sys.executable, "args": [str(TINY_MCP)]}) as server:
        agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, mcp_servers=[server]))
        await ask(agent, "hello")
    assert "no hooks aboard" in model.requests[1]
    assert "patched" in model.requests[1]
    assert [event.call.name for event in told] == ["echo"]


async def test_cancelling_a_run_ends_the_wait_for_a_hook() -> None:
    hooks, tools, asked = Hooks(), Tools(), asyncio.Event()

    @hooks.on(PreToolCall)
    async def slow(event: PreToolCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=Model([("bash", {"command": "ls"})]), tools=[function_tool(tools.bash)]))
    run = asyncio.create_task(ask(agent, "hello"))
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run, 20)
    assert tools.ran == []


async def test_arguments_that_are_no_object_run_nothing() -> None:
    model, tools = Model([]), Tools()
    model._calls_to_make = [("bash", "[1")]  # type: ignore[list-item]  # what a model may say
    agent = TreblehookGuard(Hooks()).agent(Agent("sailor", model=model, tools=[function_tool(tools.bash)]))
    await ask(agent, "hello")
    assert tools.ran == []
    assert "not a JSON object" in model.requests[1]


async def test_rewritten_arguments_are_checked_as_the_models_are() -> None:
    hooks, tools, model = Hooks(), Tools(), Model([("add", {"a": 1, "b": 2})])

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"a": "many", "b": 2})

    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[function_tool(tools.add)]))
    await ask(agent, "hello")
    assert tools.ran == []
    assert "error" in model.requests[1]


async def test_the_hooks_that_the_agent_has_are_kept() -> None:
    told: list[str] = []

    class Own(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            told.append("start")

        async def on_end(self, context: Any, agent: Any, output: Any) -> None:
            told.append(f"end {output}")

    agent = TreblehookGuard(Hooks()).agent(Agent("sailor", model=Model([]), hooks=Own()))
    await ask(agent, "hello")
    assert told == ["start", f"end {REPLY}"]


def test_a_tool_that_cannot_be_judged_is_refused() -> None:
    async def runs(request: Any) -> str:
        return ""

    with pytest.raises(ToolNotGuarded, match="ShellTool"):
        TreblehookGuard(Hooks()).agent(Agent("sailor", tools=[ShellTool(executor=runs)]))


def test_a_subclass_with_ways_of_its_own_is_refused() -> None:
    class Special(Agent[Any]):
        pass

    with pytest.raises(TypeError, match="Special"):
        TreblehookGuard(Hooks()).agent(Special("sailor"))


SECRET = {"role": "user", "content": "it is hunter2"}


@pytest.mark.parametrize("last", [{"role": "user", "content": "go on"}, {"role": "system", "content": "Be brief."}], ids=["two", "system"])
async def test_a_prompt_is_all_that_the_user_has_said_since_the_last_reply(last: Any) -> None:
    hooks, model = Hooks(), Model([])

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "hunter2" in event.prompt else None

    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model))
    given: Any = [SECRET, last]
    with pytest.raises(InputGuardrailTripwireTriggered):
        await Runner.run(agent, given, run_config=QUIET)
    assert model.requests == []


async def test_a_run_that_goes_on_after_an_approval_is_the_same_session_with_the_same_context() -> None:
    hooks, tools, model, told = Hooks(), Tools(), Model([("bash", {"command": "ls"}), ("shout", {"text": "hey"})]), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)

    @hooks.on(PromptSubmitted)
    def prompted(event: PromptSubmitted) -> Rewrite:
        return Rewrite(tools=("bash",), context=AddContext("an island"))

    made = [function_tool(tool, needs_approval=True) for tool in (tools.bash, tools.shout)]
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model, tools=[*made]))
    result = await Runner.run(agent, "hello", run_config=QUIET)
    state = result.to_state()
    for interruption in result.interruptions:
        state.approve(interruption)
    del result
    gc.collect()
    assert (await Runner.run(agent, state, run_config=QUIET)).final_output == REPLY
    assert tools.ran == [("bash", {"command": "ls"})]
    assert all("an island" in request for request in model.requests)
    assert [type(event) for event in told] == [SessionStart, SessionEnd]


def test_an_agent_that_nobody_has_any_more_is_not_kept() -> None:
    guard = TreblehookGuard(Hooks())
    agent = Agent[Any]("sailor")
    agent.handoffs = [Agent[Any]("mate", handoffs=[agent])]
    guarded = guard.agent(agent)
    assert guard.agent(agent) is guarded
    gone = weakref.ref(agent)
    del agent, guarded
    gc.collect()
    assert gone() is None


def hands_over(agent: Any, mate: Any) -> Any:
    agent.handoffs.append(mate)
    return agent


@pytest.mark.parametrize(
    "change",
    [
        hands_over,
        lambda agent, mate: hands_over(agent, handoff(mate)),
        lambda agent, mate: agent.clone(handoffs=[mate]),
    ],
    ids=["agent", "handoff", "clone"],
)
async def test_an_agent_to_hand_over_to_that_is_added_later_is_guarded(change: Any) -> None:
    hooks, tools = Hooks(), Tools()
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    mate = Agent("mate", model=Model([("bash", {"command": "ls"})]), tools=[function_tool(tools.bash)])
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=Model([("transfer_to_mate", {})])))
    result = await Runner.run(change(agent, mate), "hello", run_config=QUIET)
    assert result.last_agent.name == "mate"
    assert tools.ran == []


async def test_guardrails_and_hooks_that_are_set_later_come_beside_the_guard() -> None:
    hooks, model, told = Hooks(), Model([]), []

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "hunter2" in event.prompt else None

    hooks.on(SessionEnd)(told.append)
    agent = TreblehookGuard(hooks).agent(Agent("sailor", model=model)).clone(input_guardrails=[])
    agent.hooks = AgentHooks[Any]()
    assert await ask(agent, "it is hunter2") == "not a word of it"
    assert await ask(agent, "hello") == REPLY
    assert len(model.requests) == 1
    assert len(told) == 2
