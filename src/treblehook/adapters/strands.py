"""Hooks for agents of Strands: a hook provider, `Agent(…, hooks=[TreblehookHooks(hooks)])`."""

import os
import uuid
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from treblehook.adapters.blocked_prompts import BlockedPrompts
from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import RUNNING, Guarded, Running, Verdict
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.adapters.stalled import check_not_stalled
from treblehook.adapters.texts import BLOCKED_PROMPT, GO_ON, NO_REASON, text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from strands.hooks import (
        AfterInvocationEvent,
        AfterToolCallEvent,
        BeforeInvocationEvent,
        BeforeToolCallEvent,
        HookOrder,
        HookProvider,
        HookRegistry,
    )
    from strands.types.content import ContentBlock, Message, Messages
    from strands.types.tools import ToolResult

    check_version("strands")
except ImportError as error:
    raise SdkMissing("strands", error) from error

_DONE: Final = ("end_turn", "stop_sequence")
"""How a model stops that has said all it wants to."""

_PAUSED: Final = ("interrupt", "checkpoint")
"""How a turn stops that will go on."""


class PromptNotGuarded(TypeError):
    """`Agent.structured_output` sends a prompt that no hook gets to see."""

    def __init__(self) -> None:
        super().__init__("structured_output shows no hook its prompt; call the agent with structured_output_model instead")


@dataclass
class Conversation:
    """One agent object: its session's name, its calls that run, whether hooks have just sent it back, the call of another agent in whose
    tool it works, and how many messages it had at the end of its last run."""

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    sent_back: bool = False
    outer: Running | None = None
    length: int = 0


class TreblehookHooks(HookProvider):
    """Asks `hooks` about the prompts, the tool calls and the final replies of agents.

    An agent object is one session, also each agent of a swarm or a graph; one that works as the tool of another is a subagent in each run.
    `close` (`aclose`) tells the hooks that all of them are over. A blocked prompt is answered with the reason in the model's place, and is
    not kept; it is taken out of messages that an agent is given with it later.
    """

    def __init__(self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None) -> None:
        self._hooks = hooks
        self._guard = Guard(hooks, "strands", workspace)
        self._blocked = BlockedPrompts()
        self._conversations: weakref.WeakKeyDictionary[Any, Conversation] = weakref.WeakKeyDictionary()

    def close(self) -> None:
        """End the sessions of all agents."""
        self._guard.wait(self._guard.close())

    async def aclose(self) -> None:
        """End the sessions of all agents."""
        await self._guard.close()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Be next to the tool: see calls as other providers have left them, and give them results as hooks have."""
        registry.add_callback(BeforeInvocationEvent, self._begin, order=HookOrder.SDK_LAST)
        registry.add_callback(BeforeToolCallEvent, self._judge, order=HookOrder.SDK_LAST)
        registry.add_callback(AfterToolCallEvent, self._finish, order=HookOrder.SDK_FIRST)
        registry.add_callback(AfterInvocationEvent, self._stop, order=HookOrder.SDK_LAST)

    async def _session(self, agent: Any) -> tuple[Conversation, Guarded]:
        conversation = self._conversations.setdefault(agent, Conversation())
        await check_not_stalled(self._hooks)
        return conversation, await self._guard.session(conversation.key, tools=tuple(agent.tool_registry.registry), model=_model(agent))

    async def _begin(self, event: BeforeInvocationEvent) -> None:
        """Ask about the prompt; added context goes with it. What hooks send the model back with is none."""
        if event.messages is None:
            raise PromptNotGuarded
        conversation, session = await self._session(event.agent)
        conversation.verdicts.clear()
        conversation.outer = RUNNING.get()
        sent_back, conversation.sent_back = conversation.sent_back, False
        if not sent_back and not event.cancel:
            await self._prompted(event, conversation, session)

    async def _prompted(self, event: BeforeInvocationEvent, conversation: Conversation, session: Guarded) -> None:
        event.messages = list(event.messages or ())
        messages = [*event.agent.messages, *event.messages]
        said = [place for place, message in enumerate(messages) if _is_prompt(message)]
        texts = [_text(messages[place]["content"]) for place in said]
        # The last one may be a second try.
        forgotten = [said[number] for number in self._blocked.places(texts) if number < len(said) - 1]
        asked = min(conversation.length, len(event.agent.messages))
        new = [place for place in _last_prompts(messages) if place >= asked and place not in forgotten]
        for place in forgotten:
            _put(event, place, [{"text": BLOCKED_PROMPT}])
        if not new:
            return
        prompted = await session.prompt("\n".join(_text(messages[place]["content"]) for place in new), _model(event.agent))
        if prompted.blocked is None:
            self._blocked.passed(texts)
            if prompted.context:
                _put(event, new[-1], [*messages[new[-1]]["content"], {"text": prompted.context}])
            return
        self._blocked.add(texts, len(new))
        for place in new:
            _put(event, place, [{"text": BLOCKED_PROMPT}])
        event.cancel = prompted.blocked or NO_REASON

    async def _judge(self, event: BeforeToolCallEvent[Any]) -> None:
        """Judge a call. The model's own message keeps what it asked for."""
        if event.cancel_tool:
            return
        conversation, session = await self._session(event.agent)
        use = event.tool_use
        verdict = await session.judge(use["toolUseId"], use["name"], use["input"])
        conversation.verdicts[use["toolUseId"]] = verdict
        # The tool follows in the same task: an agent that it runs works for this one.
        RUNNING.set(Running(session, verdict.call))
        if verdict.result is not None:
            event.cancel_tool = verdict.result or NO_REASON
        elif verdict.rewritten:
            event.tool_use = {**use, "input": verdict.call.input}

    async def _finish(self, event: AfterToolCallEvent[Any]) -> None:
        """Give a call's result as hooks leave it, or what a hook said in the tool's place."""
        conversation, session = await self._session(event.agent)
        verdict = conversation.verdicts.pop(event.tool_use["toolUseId"], None)
        RUNNING.set(conversation.outer)
        if verdict is None:
            # Another provider has kept it from running.
            return
        if verdict.result is not None:
            event.result = _with_text(event.result, verdict.result, "error" if verdict.is_error else "success")
            return
        text, failed = _text(event.result["content"]), event.result["status"] == "error"
        kept = await session.finished(verdict, text, is_error=failed, seconds=event.duration or 0.0)
        if kept != text:
            event.result = _with_text(event.result, kept, event.result["status"])

    async def _stop(self, event: AfterInvocationEvent) -> None:
        """Ask about a final reply, and send the model back where hooks wish it."""
        reason = None if event.result is None else event.result.stop_reason
        conversation, session = await self._session(event.agent)
        conversation.length = len(event.agent.messages)
        RUNNING.set(conversation.outer)
        if event.resume is not None or reason in _PAUSED:
            return
        if event.result is None or reason not in _DONE:
            session.broken_off()
        else:
            context = await session.stopping(_text(event.result.message["content"]))
            if context is not None:
                conversation.sent_back = True
                event.resume = context or GO_ON
                return
        if session.parent is not None:
            await self._guard.end(conversation.key)


def _is_prompt(message: Message) -> bool:
    """Whether it is the user's own, not a tool's result."""
    return message["role"] == "user" and not any("toolResult" in block for block in message["content"])


def _last_prompts(messages: Messages) -> list[int]:
    """Where stands what the user has said since the last reply or result, in however many messages."""
    count = len(list(takewhile(_is_prompt, reversed(messages))))
    return list(range(len(messages) - count, len(messages)))


def _put(event: BeforeInvocationEvent, place: int, content: list[ContentBlock]) -> None:
    """Exchange the content of a message, counted through those that the agent has and those that it is given."""
    kept, given = event.agent.messages, event.messages or []
    messages, at = (kept, place) if place < len(kept) else (given, place - len(kept))
    messages[at] = {**messages[at], "content": content}


def _text(content: Any) -> str:
    """The texts of content blocks, and data as JSON."""
    told = [text_of(block["json"]) if "json" in block else str(block.get("text", "")) for block in content]
    return "\n".join(filter(None, told))


def _with_text(result: ToolResult, text: str, status: Any) -> ToolResult:
    blocks: Any = [ContentBlock(text=text)]
    return {**result, "content": blocks, "status": status}


def _model(agent: Any) -> str:
    config = agent.model.get_config()
    return str(config.get("model_id") or "") if isinstance(config, Mapping) else ""
