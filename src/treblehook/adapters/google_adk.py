"""Hooks for agents of Google's ADK: a plugin, `App(…, plugins=[TreblehookPlugin(hooks)])` or `Runner(…, plugins=[…])`."""

import asyncio
import os
import time
import weakref
from typing import Any, Final

from msgspec import Struct

from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import RUNNING, Guarded, Running, Verdict
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.adapters.stalled import check_not_stalled
from treblehook.adapters.texts import BLOCKED_PROMPT, GO_ON, NO_REASON, text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from google.adk.agents import BaseAgent, LlmAgent
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

    check_version("google_adk")
except ImportError as error:
    raise SdkMissing("google_adk", error) from error

_SENT_BACK: Final = "treblehook:sent-back"
"""The output of a part that keeps ADK from taking a reply for the last one. It reaches neither session nor model."""


_HOSTED: Final = ("AgentEngineSandboxCodeExecutor", "BuiltInCodeExecutor", "VertexAiCodeExecutor")
"""Executors that run code at the provider."""


class CodeNotGuarded(TypeError):
    """The agent runs code of the model's on this machine past every hook; `executor` is the kind of what runs it."""

    def __init__(self, agent: str, executor: object) -> None:
        self.executor = type(executor).__name__
        super().__init__(f"the agent {agent!r} has a {self.executor}, which no hook can stop: give it a function tool instead")


class Turn(Struct):
    """One invocation: why its prompt was blocked, the last reply that has not ended it, and what the model is to be sent back with."""

    session: Guarded
    blocked: str | None = None
    reply: str | None = None
    feedback: str | None = None


class Underway(Struct):
    """A call that has been judged, and when."""

    verdict: Verdict
    began: float


class TreblehookPlugin(BasePlugin):
    """Asks `hooks` about the prompts, the tool calls and the final replies of all agents of a runner.

    A session of ADK is one session; each run of an `AgentTool` is that of a subagent. Closing the runner tells the hooks that all are
    over. A blocked prompt is answered with the reason in the model's place, and is not kept. Put it last: later plugins and callbacks of
    agents can change what was judged.
    """

    def __init__(self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None) -> None:
        super().__init__(name="treblehook")
        self._hooks = hooks
        self._guard = Guard(hooks, "google-adk", workspace)
        self._turns: dict[str, Turn] = {}
        self._underway: weakref.WeakKeyDictionary[ToolContext, Underway] = weakref.WeakKeyDictionary()

    async def close(self) -> None:
        """End all sessions."""
        await self._guard.close()

    async def _session(self, context: InvocationContext) -> Guarded:
        await check_not_stalled(self._hooks)
        return await self._guard.session(_key(context), model=_model(context))

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Ask about the prompt; added context goes with it."""
        session, text = await self._session(invocation_context), _prompt(user_message)
        turn = self._turns[invocation_context.invocation_id] = Turn(session)
        if text is None:
            return None
        prompted = await session.prompt(text, _model(invocation_context))
        turn.blocked = prompted.blocked
        # Nothing tells of a run that is cancelled, or whose events nobody reads any more; its context goes with it.
        weakref.finalize(invocation_context, self._gone, invocation_context.invocation_id, turn, session.turn).atexit = False
        if prompted.blocked is not None:
            return types.UserContent(BLOCKED_PROMPT)
        if not prompted.context:
            return None
        return types.UserContent([*(user_message.parts or []), types.Part(text=prompted.context)])

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Answer a blocked prompt."""
        turn = self._turns.get(invocation_context.invocation_id)
        return None if turn is None or turn.blocked is None else types.ModelContent(turn.blocked or NO_REASON)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """Refuse an agent that runs code which is no call. Raises `CodeNotGuarded`."""
        executor = getattr(agent, "code_executor", None)
        if executor is not None and type(executor).__name__ not in _HOSTED:
            raise CodeNotGuarded(agent.name, executor)
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Give the model what it was sent back with, as a message that stays."""
        turn = self._turns.get(callback_context.invocation_id)
        if turn is None or turn.feedback is None:
            return None
        content, turn.feedback = types.UserContent(turn.feedback or GO_ON), None
        context = callback_context.get_invocation_context()
        event = Event(invocation_id=context.invocation_id, author="user", branch=context.branch, content=content)
        await context.session_service.append_event(session=context.session, event=event)
        llm_request.contents.append(content)
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """Ask about a final reply, and send the model back where hooks wish it."""
        turn, text = self._turns.get(callback_context.invocation_id), _reply(llm_response)
        if turn is None or text is None:
            return None
        turn.reply = text
        if not _ends_turn(callback_context.get_invocation_context().agent):
            return None
        turn.feedback = await turn.session.stopping(text)
        if turn.feedback is None:
            # Told: the run may come to its end when the next one has begun.
            turn.reply = None
            return None
        mark = types.Part(code_execution_result=types.CodeExecutionResult(output=_SENT_BACK))
        parts = llm_response.content.parts if llm_response.content is not None else None
        return llm_response.model_copy(update={"content": types.ModelContent([*(parts or []), mark])})

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Take the mark out before anybody but the agent's own loop sees it."""
        parts = event.content.parts if event.content is not None else None
        if not parts or not any(_is_mark(part) for part in parts):
            return None
        return event.model_copy(update={"content": types.ModelContent([part for part in parts if not _is_mark(part)])})

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Tell of the last reply of agents that work in a row, which cannot be sent back. Without one the turn goes on in another run."""
        turn = self._turns.pop(invocation_context.invocation_id, None)
        if turn is not None and turn.reply is not None:
            await turn.session.turn_over(turn.reply)
        if turn is not None and turn.session.parent is not None:
            await self._guard.end(_key(invocation_context))

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """The turn is over, but has not come to its end."""
        turn = self._turns.pop(invocation_context.invocation_id, None)
        if turn is not None:
            turn.session.broken_off()

    def _gone(self, invocation: str, turn: Turn, number: int) -> None:
        if self._turns.get(invocation) is turn:
            del self._turns[invocation]
            turn.session.broken_off(number)

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """Judge a call: it runs, perhaps with other arguments, or this is its result."""
        session = await self._session(tool_context.get_invocation_context())
        verdict = await session.judge(tool_context.function_call_id or "", tool.name, dict(tool_args))
        self._underway[tool_context] = Underway(verdict, time.monotonic())
        # Each call has a task of its own, in which its tool follows: an agent that this runs works for that of the call.
        RUNNING.set(Running(session, verdict.call))
        if verdict.result is not None:
            return {"error" if verdict.is_error else "result": verdict.result}
        if verdict.rewritten:
            tool_args.clear()
            tool_args.update(verdict.call.input)
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Give a call's result as hooks leave it."""
        call = self._underway.pop(tool_context, None)
        if call is None or call.verdict.result is not None or _waits(tool, tool_context, result):
            return None
        text, failed = _told(result)
        kept = await self._finished(call, tool_context, text, is_error=failed)
        return None if kept == text else {"error" if failed else "result": kept}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, Any] | None:
        """Tell of a call that raised. It fails as it would without hooks."""
        call = self._underway.pop(tool_context, None)
        if call is not None and not isinstance(error, asyncio.CancelledError):
            await self._finished(call, tool_context, str(error), is_error=True)
        return None

    async def _finished(self, call: Underway, context: ToolContext, text: str, *, is_error: bool) -> str:
        session = await self._session(context.get_invocation_context())
        return await session.finished(call.verdict, text, is_error=is_error, seconds=time.monotonic() - call.began)


def _key(context: InvocationContext) -> str:
    session = context.session
    return "\0".join((session.app_name, session.user_id, session.id))


def _prompt(message: types.Content) -> str | None:
    """The text of a prompt; None where the message is what a tool or a human was asked for."""
    parts = message.parts or []
    if any(part.function_response is not None for part in parts):
        return None
    return "\n".join(part.text for part in parts if part.text)


def _reply(response: LlmResponse) -> str | None:
    """The text of a final reply; None for a piece of one, for calls, and for errors."""
    parts = response.content.parts if response.content is not None else None
    if response.partial or response.error_code or not parts:
        return None
    if any(part.function_call is not None for part in parts) or parts[-1].code_execution_result is not None:
        return None
    return "".join(part.text for part in parts if part.text and not part.thought)


def _ends_turn(agent: Any) -> bool:
    """Whether a final reply of this agent goes to the user: that of one which works for another, or in a row of agents, does not."""
    while agent is not None:
        if not isinstance(agent, LlmAgent) or agent.mode not in (None, "chat"):
            return False
        agent = agent.parent_agent
    return True


def _is_mark(part: types.Part) -> bool:
    return part.code_execution_result is not None and part.code_execution_result.output == _SENT_BACK


def _waits(tool: BaseTool, context: ToolContext, result: Any) -> bool:
    """Whether a call has not run yet, or goes on: it waits for a human, or its result comes later."""
    id = context.function_call_id
    asked = id in context.actions.requested_tool_confirmations or id in context.actions.requested_auth_configs
    return asked or (tool.is_long_running and not result)


def _told(result: Any) -> tuple[str, bool]:
    """The text of a result, and whether it is an error; tools of MCP servers wrap both."""
    match result:
        case {"error": str(text)} if len(result) == 1:
            return text, True
        case {"result": value} if len(result) == 1:
            return text_of(value), False
        case {"content": list(blocks)} if all(isinstance(block, dict) and "text" in block for block in blocks):
            return "\n".join(str(block["text"]) for block in blocks), result.get("isError") is True
    return text_of(result), False


def _model(context: InvocationContext) -> str:
    model = getattr(context.agent, "model", "")
    return model if isinstance(model, str) else str(getattr(model, "model", ""))
