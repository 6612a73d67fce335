"""Hooks for agents of pydantic-ai 2: a capability, `Agent(…, capabilities=[TreblehookCapability(hooks)])`."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import Guarded, Verdict
from treblehook.adapters.missing import SdkMissing
from treblehook.adapters.texts import BLOCKED_PROMPT, text_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

try:
    from pydantic_ai import (
        AgentRunResult,
        ApprovalRequired,
        CallDeferred,
        ModelRequestContext,
        ModelRetry,
        RunContext,
        SkipToolValidation,
        ToolDefinition,
        ToolFailed,
        UserError,
    )
    from pydantic_ai.capabilities import (
        AbstractCapability,
        CapabilityOrdering,
        RawToolArgs,
        ValidatedToolArgs,
        WrapModelRequestHandler,
        WrapRunHandler,
        WrapToolExecuteHandler,
    )
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturn, UserPromptPart
    from pydantic_ai.tools import AgentDepsT
except ImportError as error:
    raise SdkMissing("pydantic_ai", error) from error


class PromptBlocked(Exception):
    """Hooks have blocked the prompt of a run whose output cannot be a text; `reason` is their word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class TreblehookCapability(AbstractCapability[AgentDepsT]):
    """Asks `hooks` about the prompts, the tool calls and the final replies of an agent's runs.

    A conversation (`conversation_id`) is one session. `close` tells the hooks that all of them are over. A blocked prompt is answered
    with the reason in the model's place; where the output cannot be a text the run raises `PromptBlocked`.
    """

    hooks: Hooks | Home
    workspace: str | os.PathLike[str] | None = None
    _guard: Guard | None = field(default=None, repr=False)
    _verdicts: dict[str, Verdict] = field(default_factory=dict, repr=False)
    _blocked: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._guard = self._guard or Guard(self.hooks, "pydantic-ai", self.workspace)

    @property
    def guard(self) -> Guard:
        """What keeps the sessions."""
        assert self._guard is not None, "set after the initialisation"
        return self._guard

    async def close(self) -> None:
        """End the sessions of all conversations."""
        await self.guard.close()

    def get_ordering(self) -> CapabilityOrdering | None:
        """Innermost: hooks see arguments as other capabilities have left them, and those get results as hooks have."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> "TreblehookCapability[AgentDepsT]":
        """A copy that keeps what is decided in one run."""
        return replace(self, _verdicts={}, _blocked=None)

    async def _session(self, ctx: RunContext[AgentDepsT]) -> Guarded:
        return await self.guard.session(_conversation(ctx), model=_model_name(ctx))

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Begin the session and ask about the prompt; added context goes with the first request."""
        session = await self._session(ctx)
        try:
            return await self._turn(ctx, session, handler)
        finally:
            if session.parent is not None:
                # Nobody goes on with the conversation of a subagent.
                await self.guard.end(_conversation(ctx))

    async def _turn(self, ctx: RunContext[AgentDepsT], session: Guarded, handler: WrapRunHandler) -> AgentRunResult[Any]:
        text = _text(ctx.prompt)
        if text is not None:
            prompted = await session.prompt(text, _model_name(ctx))
            self._blocked = prompted.blocked
            if prompted.context:
                ctx.enqueue(prompted.context)
        try:
            result = await handler()
        except BaseException:
            session.broken_off()
            raise
        await session.turn_over(text_of(result.output))
        return result

    async def wrap_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        """Answer a blocked prompt; ask about a final reply, and send the model back where hooks wish it."""
        if self._blocked is not None:
            _forget(ctx.messages)
            if not _takes_text(request_context):
                raise PromptBlocked(self._blocked)
            return ModelResponse(parts=[TextPart(self._blocked)], model_name="treblehook")
        response = await handler(request_context)
        if not response.tool_calls:
            context = await (await self._session(ctx)).stopping(response.text or "")
            if context is not None:
                # With `run_stream` the run is over once its reply is there.
                with suppress(UserError):
                    ctx.enqueue(context, priority="when_idle")
        return response

    async def before_tool_validate(
        self, ctx: RunContext[AgentDepsT], *, call: ToolCallPart, tool_def: ToolDefinition, args: RawToolArgs
    ) -> RawToolArgs:
        """Judge a call before its arguments are checked, so that rewritten ones are checked too."""
        verdict = await (await self._session(ctx)).judge(call.tool_call_id, call.tool_name, _object(args))
        self._verdicts[call.tool_call_id] = verdict
        if verdict.result is not None:
            if verdict.is_error or tool_def.kind != "function":
                raise ToolFailed(verdict.result)
            raise SkipToolValidation({})
        return _as(args, verdict.call.input) if verdict.rewritten else args

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """Run a judged call, or give what a hook said in the tool's place; a result that hooks change becomes their text."""
        verdict = self._verdicts.pop(call.tool_call_id, None)
        if verdict is None:
            raise ToolFailed(f"{call.tool_name} was not judged by hooks, so it did not run.")
        if verdict.result is not None:
            return verdict.result
        session, began = await self._session(ctx), time.monotonic()
        try:
            with session.running(verdict):
                result = await handler(args)
        except (ApprovalRequired, CallDeferred):
            # It has not run yet, and is judged again when it is about to.
            raise
        except Exception as error:
            await session.finished(verdict, str(error), is_error=True, seconds=time.monotonic() - began)
            raise
        text = text_of(result.return_value if isinstance(result, ToolReturn) else result)
        kept = await session.finished(verdict, text, seconds=time.monotonic() - began)
        if kept == text:
            return result
        return replace(result, return_value=kept) if isinstance(result, ToolReturn) else kept


def _conversation(ctx: RunContext[Any]) -> str:
    return str(ctx.conversation_id or ctx.run_id)


def _model_name(ctx: RunContext[Any]) -> str:
    return str(ctx.model.model_name)


def _text(prompt: Any) -> str | None:
    """The texts of a prompt; None where a run goes on without one."""
    if prompt is None or isinstance(prompt, str):
        return prompt
    return "\n".join(part if isinstance(part, str) else str(getattr(part, "content", "")) for part in prompt if _is_text(part))


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or isinstance(getattr(part, "content", None), str)


def _object(args: RawToolArgs) -> dict[str, Any]:
    """The arguments as an object. Raises `ModelRetry` where they are none: nobody could say what would run."""
    if isinstance(args, str):
        try:
            args = msgspec.json.decode(args or "{}", type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise ModelRetry(f"The arguments are not a JSON object: {error}") from error
    return dict(args)


def _as(args: RawToolArgs, changed: dict[str, Any]) -> RawToolArgs:
    """Rewritten arguments in the form that the model's came in."""
    return msgspec.json.encode(changed).decode() if isinstance(args, str) else changed


def _forget(messages: list[ModelMessage]) -> None:
    """Take a blocked prompt out of the conversation."""
    for index, message in enumerate(messages):
        if index == len(messages) - 1 and isinstance(message, ModelRequest):
            parts = [replace(part, content=BLOCKED_PROMPT) if isinstance(part, UserPromptPart) else part for part in message.parts]
            messages[index] = replace(message, parts=parts)


def _takes_text(request: ModelRequestContext) -> bool:
    """Whether any text is an answer: it is not where a text has to be JSON of a schema."""
    parameters = request.model_request_parameters
    return parameters.allow_text_output and parameters.output_mode in ("text", "tool")
