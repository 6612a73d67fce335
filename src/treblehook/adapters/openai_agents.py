"""Hooks for agents of the OpenAI Agents SDK: `TreblehookGuard(hooks).agent(agent)` is that agent, guarded.

`RunHooks` of this SDK only watch. So tools are wrapped where an agent hands them to a run, prompts pass an input guardrail that the run
waits for, context goes with the instructions, and the agent's own hooks tell of the final reply.
"""

import os
import uuid
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from typing import Any, Final

from treblehook.adapters.blocked_prompts import BlockedPrompts
from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import RUNNING, Guarded
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.adapters.openai_tools import check, guarded_tool
from treblehook.adapters.texts import text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from agents import Agent, AgentHooks, FunctionTool, GuardrailFunctionOutput, Handoff, InputGuardrail, RunContextWrapper, Tool

    check_version("openai_agents")
except ImportError as error:
    raise SdkMissing("openai_agents", error) from error

Conversation = Callable[[RunContextWrapper[Any]], str]
"""Names the conversation that a run belongs to."""

RunName = tuple[int, str | None]
"""The token of a run, which it shares with those of agents that are its tools; the call of such a tool."""

STILL_THERE: Final = (
    "an earlier prompt of this conversation was blocked, and is still in its session: `await session.pop_item()` takes it out"
)

_TOKEN: Final = "_treblehook"
_GUARDED: Final = ("handoffs", "hooks", "input_guardrails")
_INSTRUCTS: Final = ("system", "developer")
"""Who may say something between what the user says."""


class Token:
    """Names a run, kept at the usage that all its contexts share. The SDK copies that for a state from which the run is to go on."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Token":
        """It is the same run."""
        return self


@dataclass
class Run:
    """One run of the SDK: its session, which is kept for later runs or not, and what hooks added to its instructions."""

    key: str
    kept: bool
    guidance: str = ""
    session: Guarded | None = None
    tools: dict[int, tuple[FunctionTool, FunctionTool]] = field(default_factory=dict)


class TreblehookGuard:
    """Guards agents with `hooks`. A run is one session; with `conversation` all runs of which it says the same are one.

    A blocked prompt raises the SDK's `InputGuardrailTripwireTriggered`, whose `guardrail_result.output.output_info` is the reason. The SDK
    puts it into the run's `session` all the same; until it is taken out there, later prompts are blocked too. `close` tells the hooks that
    the conversations are over.
    """

    def __init__(
        self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None, conversation: Conversation | None = None
    ) -> None:
        self._guard = Guard(hooks, "openai-agents", workspace)
        self._conversation = conversation
        self._blocked = BlockedPrompts()
        self._guardrail: InputGuardrail[Any] = InputGuardrail(self._prompted, name="treblehook", run_in_parallel=False)
        self._runs: dict[RunName, Run] = {}
        # Each holds the agent that it is made of, so the id is that agent's as long as it is here.
        self._agents: weakref.WeakValueDictionary[int, GuardedAgent] = weakref.WeakValueDictionary()

    def agent(self, agent: Agent[Any]) -> "GuardedAgent":
        """The agent, guarded, and those that it hands over to. Raises `ToolNotGuarded`, and TypeError for a subclass of `Agent`."""
        if isinstance(agent, GuardedAgent):
            return agent
        if type(agent) is not Agent:
            raise TypeError(f"{type(agent).__name__} gets tools in its own way, which cannot be guarded; allowed is an Agent")
        known = self._agents.get(id(agent))
        if known is not None:
            return known
        check(agent.name, agent.tools, GuardedAgent)
        settings = {f.name: getattr(agent, f.name) for f in fields(Agent) if f.init}
        settings |= {"handoffs": [], "input_guardrails": [*agent.input_guardrails]}
        guarded = GuardedAgent(**settings, treblehook=self, original=agent)
        # Agents may hand over to each other in circles.
        self._agents[id(agent)] = guarded
        guarded.handoffs = [self._handoff(handoff) for handoff in agent.handoffs]
        return guarded

    def put_back(self, agent: "GuardedAgent", name: str, found: Any) -> Any:
        """The attribute `name` of a guarded agent, `found` as it was set, with the guard in it. Raises what `agent` raises."""
        if name == "handoffs":
            found[:] = map(self._handoff, found)
        elif name == "input_guardrails" and self._guardrail not in found:
            found.insert(0, self._guardrail)
        elif name == "hooks" and not isinstance(found, EndHooks):
            agent.hooks = found = EndHooks(self, found)
        return found

    def _handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if not isinstance(handoff, Handoff):
            return self.agent(handoff)
        if isinstance(handoff.on_invoke_handoff, GuardedHandoff):
            return handoff
        return replace(handoff, on_invoke_handoff=GuardedHandoff(self, handoff.on_invoke_handoff))

    async def close(self) -> None:
        """End every session."""
        self._runs.clear()
        await self._guard.close()

    def run(self, context: RunContextWrapper[Any]) -> Run:
        """The run that `context` belongs to. An agent that is a tool has a run, and a session, of its own."""
        name = _name(context)
        run = self._runs.get(name)
        if run is None:
            kept = self._conversation is not None and name[1] is None
            run = self._runs[name] = Run(self._conversation(context) if self._conversation and kept else uuid.uuid4().hex, kept)
            # Nothing tells of a run that fails; its usage goes when nobody has any more to do with it, and the token with it.
            weakref.finalize(_token(context), self._gone, name, run).atexit = False
        return run

    def _gone(self, name: RunName, run: Run) -> None:
        if self._runs.get(name) is run:
            del self._runs[name]
            if run.session is not None:
                run.session.broken_off()

    async def session(self, run: Run, agent: Agent[Any]) -> Guarded:
        """The session of a run."""
        run.session = await self._guard.session(run.key, tools=tuple(tool.name for tool in agent.tools))
        return run.session

    async def _prompted(self, context: RunContextWrapper[Any], agent: Agent[Any], given: Any) -> GuardrailFunctionOutput:
        run, prompts = self.run(context), _prompts(given)
        session = await self.session(run, agent)
        new = _new(given)
        blocked = STILL_THERE if self._blocked.among(prompts[:-1] if new else prompts) else None
        if blocked is None and new:
            prompted = await session.prompt("\n".join(new), every_time=True)
            run.guidance, blocked = prompted.context, prompted.blocked
            (self._blocked.passed if blocked is None else self._blocked.add)(prompts)
        if blocked is not None:
            await self._over(context, run)
        return GuardrailFunctionOutput(blocked, tripwire_triggered=blocked is not None)

    async def replied(self, context: RunContextWrapper[Any], agent: Agent[Any], output: Any) -> None:
        """Tell of the final reply of a run. The SDK has no way back from there."""
        run = self.run(context)
        await (await self.session(run, agent)).stopping(text_of(output), again=True)
        await self._over(context, run)

    async def _over(self, context: RunContextWrapper[Any], run: Run) -> None:
        self._runs.pop(_name(context), None)
        if not run.kept:
            await self._guard.end(run.key)

    def tool(self, run: Run, agent: Agent[Any], tool: FunctionTool) -> FunctionTool:
        """A tool whose calls are judged; the same one throughout a run."""
        known = run.tools.get(id(tool))
        if known is None:
            known = run.tools[id(tool)] = (tool, guarded_tool(tool, lambda: self.session(run, agent)))
        return known[1]


@dataclass
class GuardedAgent(Agent[Any]):
    """An agent whose tools, those of MCP servers too, are judged by hooks; `TreblehookGuard.agent` makes it."""

    treblehook: TreblehookGuard | None = None
    original: Agent[Any] | None = None

    def __getattribute__(self, name: str) -> Any:
        """What a program has set, with the guard in it: it may set or add to these when the agent is guarded already."""
        found = super().__getattribute__(name)
        if name not in _GUARDED:
            return found
        guard = super().__getattribute__("treblehook")
        return found if guard is None else guard.put_back(self, name, found)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """The agent's tools, guarded. Raises `ToolNotGuarded`."""
        guard, found = self._treblehook(), await super().get_all_tools(run_context)
        check(self.name, found, GuardedAgent)
        run = guard.run(run_context)
        return [guard.tool(run, self, tool) if isinstance(tool, FunctionTool) else tool for tool in found]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """The instructions, with what hooks added to this run."""
        said = await super().get_system_prompt(run_context)
        return "\n\n".join(filter(None, (said, self._treblehook().run(run_context).guidance))) or None

    def _treblehook(self) -> TreblehookGuard:
        assert self.treblehook is not None, "TreblehookGuard.agent has made it"
        return self.treblehook


class GuardedHandoff:
    """What a handoff calls to get the agent that goes on, which is guarded then."""

    def __init__(self, guard: TreblehookGuard, invoke: Callable[[RunContextWrapper[Any], str], Awaitable[Any]]) -> None:
        self._guard = guard
        self._invoke = invoke

    async def __call__(self, context: RunContextWrapper[Any], arguments: str) -> Agent[Any]:
        """Get it. Raises what `TreblehookGuard.agent` raises."""
        return self._guard.agent(await self._invoke(context, arguments))


class EndHooks(AgentHooks[Any]):
    """The agent's own hooks, if it has any, and word of its final reply."""

    def __init__(self, guard: TreblehookGuard, own: AgentHooks[Any] | None) -> None:
        self._guard = guard
        for name in ("on_start", "on_handoff", "on_tool_start", "on_tool_end", "on_llm_start", "on_llm_end"):
            if own is not None:
                setattr(self, name, getattr(own, name))
        self._own = own

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        """Pass it on, and tell the guard."""
        if self._own is not None:
            await self._own.on_end(context, agent, output)
        await self._guard.replied(context, agent, output)


def _token(context: RunContextWrapper[Any]) -> Token:
    token = getattr(context.usage, _TOKEN, None)
    if token is None:
        setattr(context.usage, _TOKEN, token := Token())
    return token


def _name(context: RunContextWrapper[Any]) -> RunName:
    running = RUNNING.get()
    return id(_token(context)), None if running is None else running.call.id


def _new(given: Any) -> list[str]:
    """What the user has said since the last reply or result, in however many messages."""
    if isinstance(given, str):
        return [given]
    return _prompts(list(takewhile(lambda item: item.get("role") in ("user", *_INSTRUCTS), reversed(given))))[::-1]


def _prompts(given: Any) -> list[str]:
    """The texts of the user's messages."""
    if isinstance(given, str):
        return [given]
    return [_said(message.get("content", "")) for message in given if message.get("role") == "user"]


def _said(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part["text"]) for part in content if "text" in part)
