"""The hook provider for Strands, in real agents with a scripted model."""

import json
from collections.abc import AsyncIterable, Sequence
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.models import Model
from strands.tools.executors import ConcurrentToolExecutor, SequentialToolExecutor

from tests.support.adapter_contract import REPLY, AdapterContract, Calls, Seen, Tools
from treblehook import (
    AddContext,
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
    SubagentFinished,
    ToolFinished,
    TurnComplete,
    TurnEnding,
)
from treblehook.adapters.guarded import RUNNING
from treblehook.adapters.stalled import check_not_stalled
from treblehook.adapters.strands import PromptNotGuarded, TreblehookHooks


class Scripted(Model):
    """Says `calls` first and `REPLY` from then on."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.requests: list[str] = []

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {"model_id": "scripted"}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("asked past the hooks")

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterable[Any]:
        self.requests.append(json.dumps([message["content"] for message in messages]))
        yield {"messageStart": {"role": "assistant"}}
        if len(self.requests) > 1 or not self.calls:
            yield {"contentBlockStart": {"start": {}}}
            for piece in (REPLY[:3], REPLY[3:]):
                yield {"contentBlockDelta": {"delta": {"text": piece}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for index, (name, given) in enumerate(self.calls):
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"call_{index}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def agent_with(hooks: TreblehookHooks, model: Scripted, *tools: Any, others: Sequence[Any] = ()) -> Agent:
    return Agent(model=model, tools=[tool(one) for one in tools], hooks=[hooks, *others], callback_handler=None)


class TestContract(AdapterContract):
    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        model, provider = Scripted(calls), TreblehookHooks(hooks)
        agent, reply = agent_with(provider, model, *tools.all()), ""
        for prompt in prompts:
            if stream:
                async for event in agent.stream_async(prompt):
                    reply = str(event.get("result", reply))
            else:
                reply = str(await agent.invoke_async(prompt))
        await provider.aclose()
        return Seen(model.requests, reply)


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


async def test_the_results_say_which_calls_failed_and_history_keeps_what_was_asked() -> None:
    hooks, tools, model = Hooks(), Tools(), Scripted([("bash", {"command": "ls"}), ("shout", {"text": "a"}), ("add", {"a": 1, "b": 2})])
    hooks.on(PreToolCall, pattern="bash")(no_shell)

    @hooks.on(PreToolCall, pattern="shout")
    def instead(event: PreToolCall) -> Replace:
        return Replace("")

    @hooks.on(PreToolCall, pattern="add")
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"a": 5, "b": 2})

    agent = agent_with(TreblehookHooks(hooks), model, tools.bash, tools.shout, tools.add)
    await agent.invoke_async("hello")
    assert tools.ran == [("add", {"a": 5, "b": 2})]
    blocks = [block for message in agent.messages for block in message["content"]]
    results = {block["toolResult"]["toolUseId"]: block["toolResult"] for block in blocks if "toolResult" in block}
    assert [(results[f"call_{n}"]["status"], results[f"call_{n}"]["content"]) for n in range(3)] == [
        ("error", [{"text": "no shell"}]),
        ("success", [{"text": ""}]),
        ("success", [{"text": "7"}]),
    ]
    assert [block["toolUse"]["input"] for block in blocks if "toolUse" in block][2] == {"a": 1, "b": 2}


async def test_a_blank_reason_blocks_too() -> None:
    hooks, tools, model = Hooks(), Tools(), Scripted([("bash", {"command": "ls"})])

    @hooks.on(PreToolCall)
    def guard(event: PreToolCall) -> Block:
        return Block("")

    @hooks.on(PromptSubmitted)
    def ask(event: PromptSubmitted) -> Block | None:
        return Block("") if event.prompt == "two" else None

    agent = agent_with(TreblehookHooks(hooks), model, tools.bash)
    await agent.invoke_async("one")
    assert tools.ran == []
    assert len(model.requests) == 2
    await agent.invoke_async("two")
    assert len(model.requests) == 2


async def test_a_blocked_prompt_is_not_kept() -> None:
    hooks, model = Hooks(), Scripted([])

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "password" in event.prompt else None

    agent = agent_with(TreblehookHooks(hooks), model)
    await agent.invoke_async("my password")
    assert "password" not in json.dumps(agent.messages)
    await agent.invoke_async("hello")
    assert len(model.requests) == 1


def test_without_await() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)

    @hooks.on(ToolFinished)
    async def patched(event: ToolFinished) -> Rewrite:
        return Rewrite(content=event.content + " at last")

    model, provider = Scripted([("bash", {"command": "ls"}), ("shout", {"text": "hey"})]), TreblehookHooks(hooks)
    agent = agent_with(provider, model, tools.bash, tools.shout)
    assert str(agent("hello")).strip() == REPLY
    assert str(agent("hello again")).strip() == REPLY
    provider.close()
    assert tools.ran == [("shout", {"text": "hey"})]
    assert "no shell" in model.requests[1]
    assert "HEY at last" in model.requests[1]
    assert [type(event) for event in told] == [SessionStart, SessionEnd]


async def test_a_call_that_the_program_makes_itself_is_judged() -> None:
    hooks, tools = Hooks(), Tools()
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    agent = agent_with(TreblehookHooks(hooks), Scripted([]), tools.bash)
    result = agent.tool.bash(command="ls")
    assert tools.ran == []
    assert result["content"] == [{"text": "no shell"}]


async def test_hooks_see_what_other_providers_made_of_a_call_and_these_get_what_hooks_left() -> None:
    hooks, tools, model, got = Hooks(), Tools(), Scripted([("shout", {"text": "hey"}), ("bash", {"command": "ls"})]), []
    asked: list[PreToolCall] = []
    hooks.on(PreToolCall)(asked.append)

    @hooks.on(ToolFinished)
    def patched(event: ToolFinished) -> Rewrite:
        return Rewrite(content=event.content + " at last")

    class Other:
        def register_hooks(self, registry: Any, **kwargs: Any) -> None:
            registry.add_callback(BeforeToolCallEvent, self.before)
            registry.add_callback(AfterToolCallEvent, self.after)

        def before(self, event: BeforeToolCallEvent) -> None:
            if event.tool_use["name"] == "bash":
                event.cancel_tool = "not on my watch"
            event.tool_use["input"] = {"text": "hey there"}

        def after(self, event: AfterToolCallEvent) -> None:
            got.append(event.result["content"])

    await agent_with(TreblehookHooks(hooks), model, tools.shout, tools.bash, others=[Other()]).invoke_async("hello")
    assert [event.call.input for event in asked] == [{"text": "hey there"}]
    assert sorted(map(str, got)) == sorted([str([{"text": "HEY THERE at last"}]), str([{"text": "not on my watch"}])])


async def test_a_tool_that_raises_is_told_and_fails_as_before() -> None:
    hooks, told, model = Hooks(), [], Scripted([("sink", {})])
    hooks.on(ToolFinished)(told.append)

    def sink() -> str:
        """Sink."""
        raise OSError("the hull is gone")

    await agent_with(TreblehookHooks(hooks), model, sink).invoke_async("hello")
    assert [event.is_error for event in told] == [True]
    assert "the hull is gone" in told[0].content
    assert "the hull is gone" in model.requests[1]


async def test_rewritten_arguments_are_checked_as_the_models_are() -> None:
    hooks, tools, model = Hooks(), Tools(), Scripted([("add", {"a": 1, "b": 2})])

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"a": "many", "b": 2})

    await agent_with(TreblehookHooks(hooks), model, tools.add).invoke_async("hello")
    assert tools.ran == []
    assert "integer" in model.requests[1]


async def test_agents_are_sessions_of_their_own_and_may_share_a_provider() -> None:
    hooks, told = Hooks(), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)
    provider = TreblehookHooks(hooks)
    one, two = agent_with(provider, Scripted([])), agent_with(provider, Scripted([]))
    for agent in (one, two, one):
        await agent.invoke_async("hello")
    assert [type(event) for event in told] == [SessionStart, SessionStart]
    await provider.aclose()
    assert [type(event) for event in told[2:]] == [SessionEnd, SessionEnd]


@pytest.mark.parametrize("executor", [ConcurrentToolExecutor, SequentialToolExecutor])
async def test_an_agent_that_is_a_tool_is_a_subagent(executor: Any) -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, SubagentFinished, SessionEnd):
        hooks.on(kind)(lambda event: told.append((type(event), event.spawned)))
    provider, mate_model = TreblehookHooks(hooks), Scripted([("bash", {"command": "ls"})])
    mate = agent_with(provider, mate_model, tools.bash)
    captain = Agent(
        model=Scripted([("mate", {"input": "look"})]),
        tools=[mate.as_tool(name="mate")],
        hooks=[provider],
        tool_executor=executor(),
        callback_handler=None,
    )
    await captain.invoke_async("hello")
    assert tools.ran == []
    assert "no shell" in mate_model.requests[1]
    assert told == [(SessionStart, False), (SessionStart, True), (SubagentFinished, False), (SessionEnd, True)]
    assert RUNNING.get() is None


async def test_an_interrupted_turn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.adapters.guard.SESSIONS", 1)
    hooks, tools, told, model = Hooks(), Tools(), [], Scripted([("shout", {"text": "hey"})])
    for kind in (PromptSubmitted, ToolFinished, TurnComplete, SessionEnd):
        hooks.on(kind)(lambda event: told.append(type(event)))

    class Asks:
        def register_hooks(self, registry: Any, **kwargs: Any) -> None:
            registry.add_callback(BeforeToolCallEvent, self.before)

        def before(self, event: BeforeToolCallEvent) -> None:
            event.interrupt("may", reason="may I?")

    provider = TreblehookHooks(hooks)
    agent = agent_with(provider, model, tools.shout, others=[Asks()])
    asked = await agent.invoke_async("hello")
    assert told == [PromptSubmitted]
    # No more than one session is kept, but the first is in its turn.
    await agent_with(provider, Scripted([])).invoke_async("hello")
    assert SessionEnd not in told
    del told[1:]
    answers: Any = [{"interruptResponse": {"interruptId": one.id, "response": "aye"}} for one in asked.interrupts]
    await agent.invoke_async(answers)
    assert told == [PromptSubmitted, ToolFinished, TurnComplete]
    assert tools.ran == [("shout", {"text": "hey"})]


async def test_a_run_that_fails_leaves_no_turn_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.adapters.guard.SESSIONS", 1)
    hooks, told = Hooks(), []
    hooks.on(PromptSubmitted)(lambda event: told.append((event.prompt, event.session)))
    hooks.on(SessionEnd)(lambda event: told.append(("end", event.session)))

    class Sinking(Scripted):
        async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterable[Any]:
            raise OSError("the hull is gone")
            yield

    provider = TreblehookHooks(hooks)
    sinking, other = agent_with(provider, Sinking([])), agent_with(provider, Scripted([]))
    with pytest.raises(OSError, match="the hull is gone"):
        await sinking.invoke_async("one")
    await other.invoke_async("two")
    assert [what for what, _ in told] == ["one", "end", "two"]
    assert told[0][1] == told[1][1]


async def test_what_a_hook_sends_back_with_is_no_prompt() -> None:
    hooks, prompts, model = Hooks(), [], Scripted([])
    hooks.on(PromptSubmitted)(prompts.append)

    @hooks.on(TurnEnding)
    def again(event: TurnEnding) -> Continue:
        return Continue("Name the palm.")

    agent = agent_with(TreblehookHooks(hooks), model)
    await agent.invoke_async("hello")
    await agent.invoke_async("and now")
    assert [event.prompt for event in prompts] == ["hello", "and now"]
    assert len(model.requests) == 4


async def test_a_prompt_that_hooks_cannot_see_is_an_error() -> None:
    class Sum(BaseModel):
        total: int

    agent = agent_with(TreblehookHooks(Hooks()), Scripted([]))
    with pytest.raises(PromptNotGuarded, match="structured_output_model"):
        await agent.structured_output_async(Sum, "add")


async def test_without_await_on_the_loop_of_a_home_is_an_error_not_a_deadlock(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setattr("treblehook.adapters.strands.check_not_stalled", partial(check_not_stalled, patience=0.2))
    async with Home(tmp_path / "home") as home:
        agent = agent_with(TreblehookHooks(home), Scripted([]))
        with pytest.raises(RuntimeError, match="stalls the event loop"):
            agent("hello")


def no_secret(event: PromptSubmitted) -> Block | AddContext | None:
    return Block("not a word of it") if "hunter2" in event.prompt else AddContext("an island")


def says(role: str, text: str) -> Any:
    return {"role": role, "content": [{"text": text}]}


@pytest.mark.parametrize("prompt", [None, "go on", [says("user", "go on")]], ids=["none", "text", "messages"])
async def test_a_prompt_is_all_that_the_user_has_said_since_the_last_reply(prompt: Any) -> None:
    hooks, model = Hooks(), Scripted([])
    hooks.on(PromptSubmitted)(no_secret)
    agent = agent_with(TreblehookHooks(hooks), model)
    agent.messages.append(says("user", "it is hunter2"))
    assert str(await agent.invoke_async(prompt)).strip() == "not a word of it"
    assert model.requests == []
    assert str(await agent.invoke_async("so?")).strip() == REPLY
    assert "hunter2" not in model.requests[0]


async def test_context_goes_with_a_prompt_that_the_agent_has_already() -> None:
    hooks, model = Hooks(), Scripted([])
    hooks.on(PromptSubmitted)(no_secret)
    agent = agent_with(TreblehookHooks(hooks), model)
    agent.messages.append(says("user", "hello"))
    assert str(await agent.invoke_async()).strip() == REPLY
    assert model.requests == [json.dumps([[{"text": "hello"}, {"text": "an island"}]])]


async def test_a_blocked_prompt_is_taken_out_of_messages_that_the_program_keeps() -> None:
    hooks, model = Hooks(), Scripted([])
    hooks.on(PromptSubmitted)(no_secret)
    provider = TreblehookHooks(hooks)
    assert "not a word" in str(await agent_with(provider, model).invoke_async("it is hunter2"))
    kept = [says("user", "it is hunter2"), says("assistant", "not a word of it")]
    agent = Agent(model=model, messages=kept, hooks=[provider], callback_handler=None)
    assert str(await agent.invoke_async("so?")).strip() == REPLY
    assert "hunter2" not in model.requests[0]
