"""Hooks for agents of LangChain 1: a middleware, `create_agent(…, middleware=[TreblehookMiddleware(hooks)])`."""

import os
import time
import uuid
import weakref
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NotRequired

from treblehook.adapters.blocked_prompts import BlockedPrompts
from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import Guarded, Verdict
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.adapters.texts import BLOCKED_PROMPT, text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ToolCallRequest, hook_config
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.errors import GraphBubbleUp
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    check_version("langchain")
except ImportError as error:
    raise SdkMissing("langchain", error) from error

Update = dict[str, Any]
Result = ToolMessage | Command[Any]

_OURS: Final = {"treblehook": "context"}
"""Marks a message that is no user's. It stays here: no model gets the metadata of a message."""


class RunMark:
    """Goes when its run is over, however that ends: nothing tells a middleware of a run that fails or is cancelled."""


class SessionState(AgentState[Any]):
    """What a thread keeps for the middleware, its session, and what only a run keeps."""

    treblehook_session: NotRequired[Annotated[str, PrivateStateAttr]]
    treblehook_run: NotRequired[Annotated[RunMark, UntrackedValue, PrivateStateAttr]]


class TreblehookMiddleware(AgentMiddleware[SessionState, Any, Any]):
    """Asks `hooks` about the prompts, the tool calls and the final replies of an agent.

    A thread of a checkpointer is one session, an invocation without one is a session of its own. `close` (`aclose`) tells the hooks that
    those of all threads are over. A blocked prompt is answered with the reason in the model's place, and taken out of a conversation that
    is handed over with it again.
    """

    state_schema = SessionState

    def __init__(self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._guard = Guard(hooks, "langchain", workspace)
        self._blocked = BlockedPrompts()

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
        session = await self._guard.session(key)
        said = [message for message in state["messages"] if _is_users(message)]
        texts = [_text(message.content) for message in said]
        # The last one may be a second try.
        forgotten = [said[place] for place in self._blocked.places(texts) if place < len(said) - 1]
        new = [message for message in _new(state["messages"]) if message not in forgotten]
        update: Update = {"treblehook_session": key, "messages": [_forgotten(message) for message in forgotten]}
        if not new:
            return update
        prompted = await session.prompt("\n".join(_text(message.content) for message in new))
        if prompted.blocked is not None:
            self._blocked.add(texts, len(new))
            update["messages"] += [*map(_forgotten, new), AIMessage(prompted.blocked)]
            return update | {"jump_to": "end"}
        self._blocked.passed(texts)
        if prompted.context:
            update["messages"].append(_context(prompted.context))
        update["treblehook_run"] = mark = RunMark()
        weakref.finalize(mark, session.broken_off, session.turn).atexit = False
        return update

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
        return None if context is None else {"messages": [_context(context)], "jump_to": "model"}

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
        finished: Result = self._guard.wait(_finished(session, verdict, request, result, time.monotonic() - began))
        return finished

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
        finished: Result = await _finished(session, verdict, request, result, time.monotonic() - began)
        return finished

    async def _session(self, state: SessionState) -> Guarded:
        return await self._guard.session(state["treblehook_session"])

    async def _judged(self, request: ToolCallRequest) -> tuple[Guarded, Verdict]:
        session = await self._session(request.state)
        call = request.tool_call
        return session, await session.judge(str(call["id"]), call["name"], call["args"])


def _is_users(message: AnyMessage) -> bool:
    """Whether a message is neither the model's nor the program's nor ours; of what kind a user's is nobody can say for all programs."""
    return not isinstance(message, AIMessage | ToolMessage | SystemMessage) and message.response_metadata != _OURS


def _new(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """What the user has said since the last reply or result, in however many messages."""
    found: list[AnyMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage | ToolMessage):
            break
        if _is_users(message):
            found.insert(0, message)
    return found


def _forgotten(message: AnyMessage) -> HumanMessage:
    return HumanMessage(BLOCKED_PROMPT, id=message.id)


def _context(text: str) -> HumanMessage:
    return HumanMessage(text, response_metadata=_OURS)


def _as_judged(request: ToolCallRequest, verdict: Verdict) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": verdict.call.input}) if verdict.rewritten else request


def _instead(verdict: Verdict) -> ToolMessage:
    status = "error" if verdict.is_error else "success"
    return ToolMessage(verdict.result or "", tool_call_id=verdict.call.id, name=verdict.call.name, status=status)


async def _finished(session: Guarded, verdict: Verdict, request: ToolCallRequest, result: Any, seconds: float) -> Any:
    """The result with the text that hooks leave. A command, or a list, may bring other messages along: these are a part of it."""
    parts = result if isinstance(result, list) else [result]
    known = {message.id for message in request.state["messages"]}
    brought = [message for part in parts for message in _messages(part) if message.id is None or message.id not in known]
    own = next((message for message in brought if isinstance(message, ToolMessage) and message.tool_call_id == verdict.call.id), None)
    if own is None:
        updates = [getattr(part, "update", None) for part in parts]
        await session.finished(verdict, text_of(updates[0] if len(updates) == 1 else updates), seconds=seconds)
        return result
    texts = [message for message in brought if _text(message.content)]
    text = "\n".join(_text(message.content) for message in texts)
    kept = await session.finished(verdict, text, is_error=own.status == "error", seconds=seconds)
    if kept == text:
        return result
    gone = [id(message) for message in texts if message is not own]
    patched = own.model_copy(update={"content": kept})
    parts = [_patched(part, own, patched, gone) for part in parts]
    return parts if isinstance(result, list) else parts[0]


def _messages(part: Any) -> list[AnyMessage]:
    """What a tool's message, or its command, adds to the conversation."""
    if isinstance(part, ToolMessage):
        return [part]
    update = part.update if isinstance(part, Command) else None
    found = update.get("messages") if isinstance(update, dict) else None
    kinds = AIMessage | HumanMessage | SystemMessage | ToolMessage
    return [message for message in found if isinstance(message, kinds)] if isinstance(found, Sequence) else []


def _patched(part: Any, own: ToolMessage, patched: ToolMessage, gone: list[int]) -> Any:
    if part is own:
        return patched
    if not _messages(part) or not isinstance(part, Command):
        return part
    update: Any = part.update
    kept = [patched if message is own else message for message in update["messages"] if id(message) not in gone]
    return replace(part, update={**update, "messages": kept})


def _text(content: Any) -> str:
    """The texts of a message's content, in whatever blocks they come."""
    if isinstance(content, str):
        return content
    blocks = [block if isinstance(block, str) else str(block.get("text", "")) for block in content]
    return "\n".join(filter(None, blocks))
