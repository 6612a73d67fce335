"""Hooks for the Claude Agent SDK: `ClaudeAgentOptions(hooks=TreblehookGuard(hooks).matchers())`.

The SDK runs Claude Code, which takes an exception for an allowance. So every callback answers, whatever happens to it.
"""

import asyncio
import json
import logging
import os
from typing import Any, Final, cast

from msgspec.structs import replace

from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import Guarded, Verdict
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks
from treblehook.gateway.agents.claude_code import ClaudeCode
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    Compacting,
    GoOn,
    Granted,
    Other,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Stopping,
    SubagentDone,
)
from treblehook.lifecycle import Allow, Deny

try:
    from claude_agent_sdk import HookCallback, HookContext, HookInput, HookMatcher
    from claude_agent_sdk.types import HookEvent, HookJSONOutput

    check_version("claude_agent_sdk")
except ImportError as error:
    raise SdkMissing("claude_agent_sdk", error) from error

ANSWER_SECONDS: Final = 100.0
"""How long an answer may take; Claude Code waits `_PATIENCE`."""

_PATIENCE: Final = 120.0
_CODEC: Final = ClaudeCode()
_EVENTS: Final = tuple(hooked.name for hooked in _CODEC.hooked if hooked.name not in ("SessionStart", "SessionEnd"))
"""With the SDK Claude Code tells no hook of these two."""

_LOG: Final = logging.getLogger("treblehook.adapters")


class TreblehookGuard:
    """Asks `hooks` about the prompts, the tool calls and the final replies of agents.

    A session of Claude Code is one session; calls of its subagents are judged in it. Its tools have our names where they are also ours,
    so a hook for `bash` holds for `Bash`. `close` tells the hooks that all sessions are over.
    """

    def __init__(
        self, hooks: Hooks | Home, workspace: str | os.PathLike[str] | None = None, *, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._guard = Guard(hooks, "claude-agent-sdk", workspace)
        self._seconds = answer_seconds

    def matchers(self) -> dict[HookEvent, list[HookMatcher]]:
        """The `hooks` of `ClaudeAgentOptions`. What goes wrong beyond a callback's reach blocks as well."""
        return {
            cast(HookEvent, event): [HookMatcher(hooks=[self._callback(event)], timeout=_PATIENCE, on_failure="block")] for event in _EVENTS
        }

    async def close(self) -> None:
        """End the sessions of all agents."""
        await self._guard.close()

    def _callback(self, event: str) -> HookCallback:
        async def answered(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await self._answer(event, cast(dict[str, Any], given))
                # What is no JSON would end the SDK's answer, or worse.
                json.dumps(answer, allow_nan=False)
            except Exception as error:
                why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                _LOG.error("%s", f"Claude Code's {event} was not judged: {why}".replace("\n", " "))
                answer = _CODEC.refuse(event, f"Treblehook could not ask its hooks: {why}")
            return _spelled(answer)

        return answered

    async def _answer(self, event: str, given: dict[str, Any]) -> dict[str, Any]:
        arrived = _CODEC.decode(event, given)
        if isinstance(arrived.what, Other):
            return {}
        return _CODEC.encode(arrived, await _asked(await self._guard.session(arrived.session), arrived))


def _spelled(answer: dict[str, Any]) -> HookJSONOutput:
    """The SDK spells `continue`, which Python keeps for itself, with an underscore."""
    return cast(HookJSONOutput, {"continue_" if key == "continue" else key: value for key, value in answer.items()})


async def _asked(session: Guarded, arrived: Arrived) -> Answer:
    """What hooks say, in the session of the agent even where a subagent calls."""
    match arrived.what:
        case PromptGiven(prompt):
            prompted = await session.prompt(prompt)
            return AddText(prompted.context) if prompted.blocked is None else Refused(prompted.blocked)
        case CallComing() as coming:
            return await _coming(session, coming)
        case PermissionAsked() as request:
            return await _permitted(session, request)
        case CallDone() as done:
            return await _finished(session, done)
        case Compacting(reason):
            await session.compacting(reason)
        case Stopping(reply, again):
            text = await session.stopping(reply, again=again)
            return NO_OPINION if text is None else GoOn(text)
        case SubagentDone(reply):
            await session.told_of(arrived.subagent, reply)
    return NO_OPINION


async def _coming(session: Guarded, coming: CallComing) -> Answer:
    """One call of Claude Code may be several of ours: each is judged, and one that is refused refuses all."""
    question: str | None = None
    rewritten: dict[str, Any] | None = None
    for call in (coming.call, *coming.more):
        verdict = await session.judge(call.id, call.name, call.input)
        if verdict.question is None and verdict.result is not None:
            return Refused(verdict.result, replaced=not verdict.is_error)
        if verdict.call.input != call.input:
            rewritten = verdict.call.input
        question = question if verdict.question is None else verdict.question
    if question is not None:
        return AskUser(question, rewritten)
    return NO_OPINION if rewritten is None else RunRewritten(rewritten)


async def _permitted(session: Guarded, request: PermissionAsked) -> Answer:
    decisions = [await session.permission(call) for call in (request.call, *request.more)]
    denied = next((decision for decision in decisions if isinstance(decision, Deny)), None)
    if denied is not None:
        return Refused(denied.reason)
    return Granted() if all(isinstance(decision, Allow) for decision in decisions) else NO_OPINION


async def _finished(session: Guarded, done: CallDone) -> Answer:
    now = done.output
    for call in (done.call, *done.more):
        outcome = await session.ended(Verdict(call, call.input), now, done.duration_ms / 1000)
        now = replace(now, content=outcome.content, is_error=outcome.is_error)
    changed = (now.content, now.is_error) != (done.output.content, done.output.is_error)
    return Patched(now.content, now.is_error) if changed else NO_OPINION
