"""The tools of an agent of the OpenAI Agents SDK, for `openai_agents.py`: which can be guarded, and how a call of one goes."""

import copy
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from treblehook.adapters.guarded import Guarded
from treblehook.adapters.missing import SdkMissing
from treblehook.adapters.texts import text_of

try:
    from agents import (
        Agent,
        CodeInterpreterTool,
        FileSearchTool,
        FunctionTool,
        HostedMCPTool,
        ImageGenerationTool,
        ProgrammaticToolCallingTool,
        RunContextWrapper,
        Tool,
        ToolSearchTool,
        WebSearchTool,
    )
    from agents.tool import (
        default_tool_error_function,
        resolve_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )
    from agents.tool_context import ToolContext
except ImportError as error:
    raise SdkMissing("openai_agents", error) from error

Invoke = Callable[[ToolContext[Any], str], Awaitable[Any]]

HOSTED: Final = (
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ProgrammaticToolCallingTool,
    ToolSearchTool,
    WebSearchTool,
)
"""Tools that run at the provider. All others but function tools run here, and not by a call that can be judged."""

FAILED: Final = ("_treblehook_failed", "_function_tool_default_failure_handled")
"""What a call's context is marked with when its tool has failed: by us, and by the SDK."""


class ToolNotGuarded(TypeError):
    """The agent has a tool that runs on this machine past every hook; `tool` is its kind."""

    def __init__(self, agent: str, tool: Tool) -> None:
        self.tool = type(tool).__name__
        if isinstance(tool, FunctionTool):
            why = f"the tool {tool.name!r}, which is an agent that is not guarded: make it a tool by `guard.agent(…).as_tool(…)`"
        else:
            why = f"a {self.tool}, which no hook can stop: give it a function tool instead"
        super().__init__(f"the agent {agent!r} has {why}")


def guarded_tool(tool: FunctionTool, session: Callable[[], Awaitable[Guarded]]) -> FunctionTool:
    """A copy of `tool` whose calls are judged, each in what `session` gives."""
    guarded, invoke = copy.copy(tool), _marking(tool).on_invoke_tool

    async def judged(context: ToolContext[Any], arguments: str) -> Any:
        return await _called(await session(), tool.name, invoke, context, arguments)

    guarded.on_invoke_tool = judged
    return guarded


async def _called(session: Guarded, name: str, invoke: Invoke, context: ToolContext[Any], arguments: str) -> Any:
    """One call of a tool: judged, run where it may, and its result asked about."""
    try:
        given = msgspec.json.decode(arguments or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        return f"The arguments are not a JSON object, so the tool did not run: {error}"
    verdict = await session.judge(context.tool_call_id, name, given)
    if verdict.result is not None:
        return verdict.result
    began = time.monotonic()
    try:
        with session.running(verdict):
            result = await invoke(context, msgspec.json.encode(verdict.call.input).decode() if verdict.rewritten else arguments)
    except Exception as error:
        await session.finished(verdict, str(error), is_error=True, seconds=time.monotonic() - began)
        raise
    text, failed = text_of(result), any(getattr(context, mark, False) for mark in FAILED)
    kept = await session.finished(verdict, text, is_error=failed, seconds=time.monotonic() - began)
    return result if kept == text else kept


def _marking(tool: FunctionTool) -> FunctionTool:
    """A copy of which each call can be told to have failed, where the tool's error becomes a text for the model."""
    say = resolve_function_tool_failure_error_function(tool)
    copied = copy.copy(tool)
    if say is not None and say is not default_tool_error_function:

        def marked(context: RunContextWrapper[Any], error: Exception) -> Any:
            setattr(context, FAILED[0], True)
            return say(context, error)

        set_function_tool_failure_error_function(copied, marked)
    return copied


def check(agent: str, tools: list[Tool], guarded: type[Agent[Any]]) -> None:
    """Raises `ToolNotGuarded` where hooks would not hold. `guarded` is what an agent is that may be a tool."""
    for tool in tools:
        inner = tool._agent_instance if isinstance(tool, FunctionTool) else None
        if not isinstance(tool, (FunctionTool, *HOSTED)) or (inner is not None and not isinstance(inner, guarded)):
            raise ToolNotGuarded(agent, tool)
