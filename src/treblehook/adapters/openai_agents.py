"""Hooks for agents of the OpenAI Agents SDK: `TreblehookGuard(hooks).agent(agent)` is that agent, guarded.

`RunHooks` of this SDK only watch. So tools are wrapped where an agent hands them to a run, prompts pass an input guardrail that the run
waits for, context goes with the instructions, and the agent's own hooks tell of the final reply.
"""

import os
import uuid
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from treblehook.adapters.blocked_prompts import BlockedPrompts
from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import RUNNING, Guarded
from treblehook.adapters.missing import SdkMissing
from treblehook.adapters.openai_tools import check, guarded_tool
from treblehook.adapters.texts import text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from agents import Agent, AgentHooks, FunctionTool, GuardrailFunctionOutput, Handoff, InputGuardrail, RunContextWrapper, Tool
except ImportError as error:
    raise SdkMissing("openai_agents", error) from error

Conversation = Callable[[RunContextWrapper[Any]], str]
"""Names the conversation that a run belongs to."""

RunName = tuple[int, str | None]
"""The usage that all contexts of a run share, also with those of agents that are its tools; the call of such a tool."""
STILL_THERE: Final = (
    "an earlier prompt of this conversation was blocked, and is still in its session: `await session.pop_item()` takes it out"
)


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
        self._runs: dict[RunName, Run] = {}
        self._agents: dict[int, tuple[Agent[Any], GuardedAgent]] = {}

    def agent(self, agent: Agent[Any]) -> "GuardedAgent":
        """The agent, guarded, and those that it hands over to. Raises `ToolNotGuarded`, and TypeError for a subclass of `Agent`."""
        if isinstance(agent, GuardedAgent):
            return agent
        if type(agent) is not Agent:
            raise TypeError(f"{type(agent).__name__} gets tools in its own way, which cannot be guarded; allowed is an Agent")
        known = self._agents.get(id(agent))
        if known is not None:
            return known[1]
        check(agent.name, agent.tools, GuardedAgent)
        settings = {f.name: getattr(agent, f.name) for f in fields(Agent) if f.init}
        guarded = GuardedAgent(**settings, treblehook=self)
        # Agents may hand over to each other in circles.
        self._agents[id(agent)] = (agent, guarded)
        guarded.handoffs = [self._handoff(handoff) for handoff in agent.handoffs]
        guarded.input_guardrails = [InputGuardrail(self._prompted, name="treblehook", run_in_parallel=False), *agent.input_guardrails]
        guarded.hooks = EndHooks(self, agent.hooks)
        return guarded

    def _handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if not isinstance(handoff, Handoff):
            return self.agent(handoff)
        invoke = handoff.on_invoke_handoff

        async def guarded(context: RunContextWrapper[Any], arguments: str) -> Agent[Any]:
            return self.agent(await invoke(context, arguments))

        return replace(handoff, on_invoke_handoff=guarded)

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
            # Nothing tells of a run that fails; its usage goes when nobody has any more to do with it.
            weakref.finalize(context.usage, self._gone, name, run).atexit = False
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
        new = _ends_with_a_prompt(given)
        blocked = STILL_THERE if self._blocked.among(prompts[:-1] if new else prompts) else None
        if blocked is None and new:
            prompted = await session.prompt(prompts[-1], every_time=True)
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


def _name(context: RunContextWrapper[Any]) -> RunName:
    running = RUNNING.get()
    return id(context.usage), None if running is None else running.call.id


def _ends_with_a_prompt(given: Any) -> bool:
    return isinstance(given, str) or bool(given and given[-1].get("role") == "user")


def _prompts(given: Any) -> list[str]:
    """The texts of the user's messages."""
    if isinstance(given, str):
        return [given]
    return [_said(message.get("content", "")) for message in given if message.get("role") == "user"]


def _said(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part["text"]) for part in content if "text" in part)
