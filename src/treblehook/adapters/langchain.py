"""Hooks for agents of LangChain 1: a middleware, `create_agent(…, middleware=[TreblehookMiddleware(hooks)])`."""

import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired

from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import Guarded, Verdict
from treblehook.adapters.missing import SdkMissing
from treblehook.adapters.texts import BLOCKED_PROMPT, text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ToolCallRequest, hook_config
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.errors import GraphBubbleUp
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise SdkMissing("langchain", error) from error

Update = dict[str, Any]
Result = ToolMessage | Command[Any]


class SessionState(AgentState[Any]):
    """What a thread keeps for the middleware: its session."""

    treblehook_session: NotRequired[Annotated[str, PrivateStateAttr]]


class TreblehookMiddleware(AgentMiddleware[SessionState, Any, Any]):
    """Asks `hooks` about the prompts, the tool calls and the final replies of an agent.

    A thread of a checkpointer is one session, an invocation without one is a session of its own. `close` (`aclose`) tells the hooks that
    those of all threads are over. A blocked prompt is answered with the reason in the model's place.
    """

    state_schema = SessionState

    def __init__(self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._guard = Guard(hooks, "langchain", workspace)

    def close(self) -> None:
        """End the sessions of all threads."""
        self._guard.wait(self._guard.close())

    async def aclose(self) -> None:
        """End the sessions of all threads."""
        await self._guard.close()

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """Begin the session and ask about the prompt."""
        return self._guard.wait(self.abefore_agent(state, runtime))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """Begin the session and ask about the prompt; added context follows it as a message."""
        key = state.get("treblehook_session") or uuid.uuid4().hex
        update: Update = {"treblehook_session": key}
        session = await self._guard.session(key)
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, HumanMessage):
            return update
        prompted = await session.prompt(_text(last.content))
        if prompted.blocked is not None:
            forgotten = HumanMessage(BLOCKED_PROMPT, id=last.id)
            return update | {"messages": [forgotten, AIMessage(prompted.blocked)], "jump_to": "end"}
        return update | {"messages": [HumanMessage(prompted.context)]} if prompted.context else update

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """Ask about a final reply."""
        return self._guard.wait(self.aafter_model(state, runtime))

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """Ask about a final reply, and send the model back where hooks wish it."""
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or last.tool_calls:
            return None
        context = await (await self._session(state)).stopping(_text(last.content))
        return None if context is None else {"messages": [HumanMessage(context)], "jump_to": "model"}

    def after_agent(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """End a turn whose last reply was no text, and a session that no thread keeps."""
        return self._guard.wait(self.aafter_agent(state, runtime))

    async def aafter_agent(self, state: SessionState, runtime: Runtime[Any]) -> Update | None:
        """End a turn whose last reply was no text, and a session that no thread keeps."""
        session = await self._session(state)
        await session.turn_over(_text(state["messages"][-1].content))
        thread = runtime.execution_info and runtime.execution_info.thread_id
        if thread is None or session.parent is not None:
            await self._guard.end(state["treblehook_session"])
        return None

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Judge a call, run it where it may, and ask about its result."""
        session, verdict = self._guard.wait(self._judged(request))
        if verdict.result is not None:
            return _instead(verdict)
        began = time.monotonic()
        try:
            with session.running(verdict):
                result = handler(_as_judged(request, verdict))
        except GraphBubbleUp:
            raise
        except Exception as error:
            self._guard.wait(session.finished(verdict, str(error), is_error=True, seconds=time.monotonic() - began))
            raise
        return self._guard.wait(_finished(session, verdict, result, time.monotonic() - began))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
        """Judge a call, run it where it may, and ask about its result."""
        session, verdict = await self._judged(request)
        if verdict.result is not None:
            return _instead(verdict)
        began = time.monotonic()
        try:
            with session.running(verdict):
                result = await handler(_as_judged(request, verdict))
        except GraphBubbleUp:
            raise
        except Exception as error:
            await session.finished(verdict, str(error), is_error=True, seconds=time.monotonic() - began)
            raise
        return await _finished(session, verdict, result, time.monotonic() - began)

    async def _session(self, state: SessionState) -> Guarded:
        return await self._guard.session(state["treblehook_session"])

    async def _judged(self, request: ToolCallRequest) -> tuple[Guarded, Verdict]:
        session = await self._session(request.state)
        call = request.tool_call
        return session, await session.judge(str(call["id"]), call["name"], call["args"])


def _as_judged(request: ToolCallRequest, verdict: Verdict) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": verdict.call.input}) if verdict.rewritten else request


def _instead(verdict: Verdict) -> ToolMessage:
    status = "error" if verdict.is_error else "success"
    return ToolMessage(verdict.result or "", tool_call_id=verdict.call.id, name=verdict.call.name, status=status)


async def _finished(session: Guarded, verdict: Verdict, result: Result, seconds: float) -> Result:
    """The result with the text that hooks leave; that of a command is in the message which it adds for this call."""
    if isinstance(result, ToolMessage):
        return await _message(session, verdict, result, seconds)
    if not isinstance(result.update, dict) or not isinstance(result.update.get("messages"), Sequence):
        await session.finished(verdict, text_of(result.update), seconds=seconds)
        return result
    kept = [
        await _message(session, verdict, message, seconds)
        if isinstance(message, ToolMessage) and message.tool_call_id == verdict.call.id
        else message
        for message in result.update["messages"]
    ]
    return replace(result, update={**result.update, "messages": kept})


async def _message(session: Guarded, verdict: Verdict, message: ToolMessage, seconds: float) -> ToolMessage:
    text = _text(message.content)
    kept = await session.finished(verdict, text, is_error=message.status == "error", seconds=seconds)
    return message if kept == text else message.model_copy(update={"content": kept})


def _text(content: Any) -> str:
    """The texts of a message's content, in whatever blocks they come."""
    if isinstance(content, str):
        return content
    blocks = [block if isinstance(block, str) else str(block.get("text", "")) for block in content]
    return "\n".join(filter(None, blocks))
