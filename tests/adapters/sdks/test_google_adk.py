"""The plugin for Google's ADK, in real runners with a scripted model."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.adk import Workflow
from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App
from google.adk.code_executors import BuiltInCodeExecutor, UnsafeLocalCodeExecutor
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool
from google.genai import types

from tests.support.adapter_contract import REPLY, AdapterContract, Calls, Seen, Tools
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
    SubagentFinished,
    ToolFinished,
    TurnComplete,
    TurnEnding,
)
from treblehook.adapters.google_adk import TreblehookPlugin
from treblehook.adapters.guarded import RUNNING
from treblehook.adapters.stalled import check_not_stalled


class Scripted(BaseLlm):
    """Says `calls` first and `REPLY` from then on."""

    model: str = "scripted"
    calls: Any = ()
    requests: Any = None
    reply: str = REPLY

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append("\n".join(content.model_dump_json(exclude_none=True) for content in llm_request.contents))
        if len(self.requests) > 1 or not self.calls:
            for piece in (self.reply[:3], self.reply[3:]) if stream else ():
                yield LlmResponse(content=types.ModelContent(piece), partial=True)
            yield LlmResponse(content=types.ModelContent(self.reply), partial=False)
            return
        calls = [types.Part(function_call=types.FunctionCall(name=name, args=given)) for name, given in self.calls]
        yield LlmResponse(content=types.ModelContent(calls), partial=False)


def scripted(calls: Calls = (), reply: str = REPLY) -> Scripted:
    return Scripted(calls=calls, requests=[], reply=reply)


def runner_of(agent: Any, hooks: Hooks | Home) -> InMemoryRunner:
    runner = InMemoryRunner(app=App(name="ship", root_agent=agent, plugins=[TreblehookPlugin(hooks)]))
    runner.auto_create_session = True
    return runner


async def ask(runner: InMemoryRunner, prompt: Any, *, stream: bool = False, session: str = "one") -> str:
    message = types.UserContent(prompt) if isinstance(prompt, str) else prompt
    config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
    reply = ""
    async for event in runner.run_async(user_id="jim", session_id=session, new_message=message, run_config=config):
        if not event.partial and event.content is not None:
            reply = "".join(part.text or "" for part in event.content.parts or []) or reply
    return reply


async def kept(runner: InMemoryRunner) -> Any:
    found = await runner.session_service.get_session(app_name="ship", user_id="jim", session_id="one")
    assert found is not None
    return [event.content for event in found.events if event.content is not None]


class TestContract(AdapterContract):
    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        model = scripted(calls)
        runner = runner_of(LlmAgent(name="sailor", model=model, tools=tools.all()), hooks)
        replies = [await ask(runner, prompt, stream=stream) for prompt in prompts]
        await runner.close()
        return Seen(model.requests, replies[-1])


def no_shell(event: PreToolCall) -> Block:
    return Block("no shell")


async def test_the_results_say_which_calls_failed_and_history_keeps_what_was_asked() -> None:
    hooks, tools = Hooks(), Tools()
    hooks.on(PreToolCall, pattern="bash")(no_shell)

    @hooks.on(PreToolCall, pattern="shout")
    def instead(event: PreToolCall) -> Replace:
        return Replace("")

    @hooks.on(PreToolCall, pattern="add")
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"a": 5, "b": 2})

    model = scripted([("bash", {"command": "ls"}), ("shout", {"text": "a"}), ("add", {"a": 1, "b": 2})])
    runner = runner_of(LlmAgent(name="sailor", model=model, tools=tools.all()), hooks)
    await ask(runner, "hello")
    assert tools.ran == [("add", {"a": 5, "b": 2})]
    parts = [part for content in await kept(runner) for part in content.parts or []]
    answers = [part.function_response.response for part in parts if part.function_response]
    assert answers == [{"error": "no shell"}, {"result": ""}, {"result": 7}]
    assert [part.function_call.args for part in parts if part.function_call][2] == {"a": 1, "b": 2}


async def test_a_blocked_prompt_is_not_kept() -> None:
    hooks, model = Hooks(), scripted()

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "password" in event.prompt else None

    runner = runner_of(LlmAgent(name="sailor", model=model), hooks)
    assert await ask(runner, "my password") == "not a word of it"
    assert await ask(runner, "hello") == REPLY
    assert len(model.requests) == 1
    assert "password" not in model.requests[0]


async def test_hooks_may_say_nothing() -> None:
    hooks, model = Hooks(), scripted()

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("") if event.prompt == "two" else None

    @hooks.on(TurnEnding)
    def again(event: TurnEnding) -> Continue:
        return Continue("")

    runner = runner_of(LlmAgent(name="sailor", model=model), hooks)
    assert await ask(runner, "one") == REPLY
    assert len(model.requests) == 2
    assert "go on" in model.requests[1]
    assert await ask(runner, "two") == "A hook refused this."


async def test_what_the_model_was_sent_back_with_stays_and_the_mark_does_not() -> None:
    hooks, prompts, model = Hooks(), [], scripted()
    hooks.on(PromptSubmitted)(prompts.append)

    @hooks.on(TurnEnding)
    def again(event: TurnEnding) -> Continue:
        return Continue("Name the palm.")

    runner = runner_of(LlmAgent(name="sailor", model=model), hooks)
    await ask(runner, "hello")
    contents = await kept(runner)
    assert [(content.role, "".join(part.text or "" for part in content.parts)) for content in contents] == [
        ("user", "hello"),
        ("model", REPLY),
        ("user", "Name the palm."),
        ("model", REPLY),
    ]
    await ask(runner, "and now")
    assert [request.count("Name the palm.") for request in model.requests] == [0, 1, 1, 2]
    assert "sent-back" not in "".join(model.requests)
    assert [event.prompt for event in prompts] == ["hello", "and now"]


async def test_agents_in_a_row_have_one_turn_that_ends_with_the_last() -> None:
    hooks, told, one, two = Hooks(), [], scripted(reply="aye"), scripted(reply="done")
    hooks.on(TurnEnding)(told.append)
    hooks.on(TurnComplete)(told.append)
    row = Workflow(name="row", edges=[("START", LlmAgent(name="one", model=one), LlmAgent(name="two", model=two))])
    assert await ask(runner_of(row, hooks), "hello") == "done"
    assert [(type(event), event.reply) for event in told] == [(TurnEnding, "done"), (TurnComplete, "done")]


async def test_an_agent_that_is_a_tool_is_a_subagent() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, SubagentFinished, SessionEnd):
        hooks.on(kind)(lambda event: told.append((type(event), event.spawned)))
    mate_model = scripted([("bash", {"command": "ls"})])
    mate = LlmAgent(name="mate", model=mate_model, tools=[tools.bash])
    captain = LlmAgent(name="captain", model=scripted([("mate", {"request": "look"})]), tools=[AgentTool(mate)])
    assert await ask(runner_of(captain, hooks), "hello") == REPLY
    assert tools.ran == []
    assert "no shell" in mate_model.requests[1]
    assert told == [(SessionStart, False), (SessionStart, True), (SubagentFinished, False), (SessionEnd, True)]
    assert RUNNING.get() is None


async def test_an_agent_that_is_handed_over_to_is_guarded_in_the_same_session() -> None:
    hooks, tools, told = Hooks(), Tools(), []
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    for kind in (SessionStart, TurnComplete):
        hooks.on(kind)(lambda event: told.append(type(event)))
    mate_model = scripted([("bash", {"command": "ls"})])
    mate = LlmAgent(name="mate", model=mate_model, tools=[tools.bash])
    captain = LlmAgent(name="captain", model=scripted([("transfer_to_agent", {"agent_name": "mate"})]), sub_agents=[mate])
    assert await ask(runner_of(captain, hooks), "hello") == REPLY
    assert tools.ran == []
    assert "no shell" in mate_model.requests[1]
    assert told == [SessionStart, TurnComplete]


async def test_a_tool_that_raises_is_told_and_fails_as_before() -> None:
    hooks, told = Hooks(), []
    hooks.on(ToolFinished)(told.append)

    def sink() -> str:
        """Sink."""
        raise OSError("the hull is gone")

    runner = runner_of(LlmAgent(name="sailor", model=scripted([("sink", {})]), tools=[sink]), hooks)
    with pytest.raises(OSError, match="the hull is gone"):
        await ask(runner, "hello")
    assert [(event.content, event.is_error) for event in told] == [("the hull is gone", True)]


async def test_a_rewritten_input_is_the_whole_input() -> None:
    hooks, ran = Hooks(), []

    def greet(name: str, loud: bool = False) -> None:
        """Greet."""
        ran.append((name, loud))

    @hooks.on(PreToolCall)
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={"name": "Jim"})

    model = scripted([("greet", {"name": "Silver", "loud": True})])
    await ask(runner_of(LlmAgent(name="sailor", model=model, tools=[greet]), hooks), "hello")
    assert ran == [("Jim", False)]


async def test_what_runs_after_a_call_is_not_in_its_tool() -> None:
    tools, seen = Tools(), []

    def look(callback_context: Any, llm_request: Any) -> None:
        seen.append(RUNNING.get())

    model = scripted([("shout", {"text": "hey"})])
    await ask(runner_of(LlmAgent(name="sailor", model=model, tools=[tools.shout], before_model_callback=look), Hooks()), "hello")
    assert seen == [None, None]


async def test_a_run_that_fails_leaves_no_turn_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.adapters.guard.SESSIONS", 1)
    hooks, told = Hooks(), []
    hooks.on(PromptSubmitted)(lambda event: told.append((event.prompt, event.session)))
    hooks.on(SessionEnd)(lambda event: told.append(("end", event.session)))

    def sink() -> None:
        """Sink."""
        raise OSError("the hull is gone")

    runner = runner_of(LlmAgent(name="sailor", model=scripted([("sink", {})]), tools=[sink]), hooks)
    with pytest.raises(OSError, match="the hull is gone"):
        await ask(runner, "one", session="one")
    await ask(runner, "two", session="two")
    assert [what for what, _ in told] == ["one", "end", "two"]
    assert told[0][1] == told[1][1]


async def test_a_call_that_waits_for_a_human_has_not_finished() -> None:
    hooks, tools, told, model = Hooks(), Tools(), [], scripted([("shout", {"text": "hey"})])
    hooks.on(ToolFinished)(lambda event: told.append(event.content))
    hooks.on(PromptSubmitted)(lambda event: told.append(event.prompt))
    hooks.on(TurnComplete)(lambda event: told.append(event.reply))
    agent = LlmAgent(name="sailor", model=model, tools=[FunctionTool(tools.shout, require_confirmation=True)])
    runner = runner_of(agent, hooks)
    await ask(runner, "hello")
    assert told == ["hello"]
    calls = [part.function_call for content in await kept(runner) for part in content.parts or [] if part.function_call]
    asked = next(call for call in calls if call.name == "adk_request_confirmation")
    answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
    await ask(runner, types.UserContent([types.Part(function_response=answer)]))
    assert told == ["hello", "HEY", REPLY]
    assert tools.ran == [("shout", {"text": "hey"})]


async def test_a_call_whose_result_comes_later_has_not_finished() -> None:
    hooks, told, model = Hooks(), [], scripted([("dig", {})])
    hooks.on(ToolFinished)(told.append)

    def dig() -> None:
        """Dig."""

    await ask(runner_of(LlmAgent(name="sailor", model=model, tools=[LongRunningFunctionTool(dig)]), hooks), "hello")
    assert told == []


async def test_an_unknown_tool_is_judged_and_the_model_told() -> None:
    hooks, told, model = Hooks(), [], scripted([("fly", {})])
    hooks.on(ToolFinished)(told.append)
    await ask(runner_of(LlmAgent(name="sailor", model=model), hooks), "hello")
    assert [(event.call.name, event.is_error) for event in told] == [("fly", True)]
    assert "no tool with that name" in model.requests[1]


async def test_sessions_are_the_sdks_and_end_with_the_runner() -> None:
    hooks, told = Hooks(), []
    hooks.on(SessionStart)(told.append)
    hooks.on(SessionEnd)(told.append)
    runner = runner_of(LlmAgent(name="sailor", model=scripted()), hooks)
    for session in ("one", "two", "one"):
        await ask(runner, "hello", session=session)
    assert [type(event) for event in told] == [SessionStart, SessionStart]
    await runner.close()
    assert [type(event) for event in told[2:]] == [SessionEnd, SessionEnd]


def test_without_await() -> None:
    hooks, tools, model = Hooks(), Tools(), scripted([("bash", {"command": "ls"}), ("shout", {"text": "hey"})])
    hooks.on(PreToolCall, pattern="bash")(no_shell)
    runner = runner_of(LlmAgent(name="sailor", model=model, tools=tools.all()), hooks)
    for _ in runner.run(user_id="jim", session_id="one", new_message=types.UserContent("hello")):
        pass
    assert tools.ran == [("shout", {"text": "hey"})]
    assert "no shell" in model.requests[1]


async def test_without_await_on_the_loop_of_a_home_is_an_error_not_a_deadlock(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setattr("treblehook.adapters.google_adk.check_not_stalled", partial(check_not_stalled, patience=0.2))
    async with Home(tmp_path / "home") as home:
        runner = runner_of(LlmAgent(name="sailor", model=scripted()), home)
        with pytest.raises(RuntimeError, match="stalls the event loop"):
            list(runner.run(user_id="jim", session_id="one", new_message=types.UserContent("hello")))


async def test_a_run_whose_last_events_nobody_reads_does_not_end_the_next_turn() -> None:
    hooks, told = Hooks(), []
    hooks.on(PromptSubmitted)(lambda event: told.append(("prompt", event.prompt)))
    hooks.on(TurnComplete)(lambda event: told.append(("complete", event.prompt)))
    runner = runner_of(LlmAgent(name="sailor", model=scripted()), hooks)
    for prompt in ("one", "two"):
        async for event in runner.run_async(user_id="jim", session_id="one", new_message=types.UserContent(prompt)):
            if event.is_final_response():
                break
    await runner.close()
    assert told == [("prompt", "one"), ("complete", "one"), ("prompt", "two"), ("complete", "two")]


class Waiting(Scripted):
    asked: Any = None

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.asked.set()
        await asyncio.Event().wait()
        yield LlmResponse()


async def test_a_run_that_is_cancelled_leaves_no_turn_behind() -> None:
    model = Waiting(asked=asyncio.Event())
    runner = runner_of(LlmAgent(name="sailor", model=model), Hooks())
    [plugin] = runner.plugin_manager.plugins
    assert isinstance(plugin, TreblehookPlugin)
    run = asyncio.create_task(ask(runner, "hello"))
    await model.asked.wait()
    [turn] = plugin._turns.values()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    del run
    while plugin._turns:
        await asyncio.sleep(0)
        gc.collect()
    assert not turn.session.in_turn


async def test_an_agent_that_runs_code_of_the_model_here_is_refused(tmp_path: Path) -> None:
    code = f"```python\nopen({str(tmp_path / 'chest')!r}, 'w')\n```"
    runner = runner_of(LlmAgent(name="sailor", model=scripted(reply=code), code_executor=UnsafeLocalCodeExecutor()), Hooks())
    with pytest.raises(RuntimeError, match="UnsafeLocalCodeExecutor, which no hook can stop"):
        await ask(runner, "hello")
    assert not (tmp_path / "chest").exists()


async def test_an_agent_that_runs_code_at_the_provider_is_not() -> None:
    runner = runner_of(LlmAgent(name="sailor", model=scripted(), code_executor=BuiltInCodeExecutor()), Hooks())
    with pytest.raises(ValueError, match="code execution"):
        # ADK wants a Gemini model for it, and finds out later.
        await ask(runner, "hello")
