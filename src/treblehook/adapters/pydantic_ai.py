"""Hooks for agents of pydantic-ai 2: a capability, `Agent(…, capabilities=[TreblehookCapability(hooks)])`."""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import msgspec

from treblehook.adapters.blocked_prompts import BlockedPrompts
from treblehook.adapters.guard import Guard
from treblehook.adapters.guarded import Guarded, Verdict
from treblehook.adapters.missing import SdkMissing, check_version
from treblehook.adapters.texts import BLOCKED_PROMPT, NO_REASON, text_of
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
        RawOutput,
        RawToolArgs,
        ValidatedToolArgs,
        WrapModelRequestHandler,
        WrapOutputProcessHandler,
        WrapRunHandler,
        WrapToolExecuteHandler,
    )
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturn, UserPromptPart
    from pydantic_ai.output import OutputContext
    from pydantic_ai.tools import AgentDepsT

    check_version("pydantic_ai")
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
    with the reason in the model's place, and taken out of a history that holds it later; where the output cannot be a text the run raises
    `PromptBlocked`. A function that makes the output is judged as a tool is.
    """

    hooks: Hooks | Home
    workspace: str | os.PathLike[str] | None = None
    _guard: Guard | None = field(default=None, repr=False)
    _verdicts: dict[str, Verdict] = field(default_factory=dict, repr=False)
    _blocked: str | None = field(default=None, repr=False)
    _blocked_prompts: BlockedPrompts = field(default_factory=BlockedPrompts, repr=False)

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
        await self._prompted(ctx, session)
        try:
            result = await handler()
        except BaseException:
            session.broken_off()
            raise
        await session.turn_over(text_of(result.output))
        return result

    async def _prompted(self, ctx: RunContext[AgentDepsT], session: Guarded) -> None:
        """Ask about what the user has said since the last reply, be it in the prompt or at the end of the history."""
        prompts = _prompts(ctx.messages)
        texts = [_text(part.content) for part in prompts] + ([] if ctx.prompt is None else [_text(ctx.prompt)])
        # The last one may be a second try.
        _forget(ctx.messages, [prompts[place] for place in self._blocked_prompts.places(texts) if place < len(texts) - 1])
        last = _prompts(_last_requests(ctx.messages))
        new = [_text(part.content) for part in last if part.content != BLOCKED_PROMPT] + texts[len(prompts) :]
        if not new:
            return
        prompted = await session.prompt("\n".join(new), _model_name(ctx))
        self._blocked = prompted.blocked
        if prompted.blocked is None:
            self._blocked_prompts.passed(texts)
        else:
            self._blocked_prompts.add(texts, len(new))
            _forget(ctx.messages, last)
        if prompted.context:
            ctx.enqueue(prompted.context)

    async def wrap_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        """Answer a blocked prompt; ask about a final reply, and send the model back where hooks wish it."""
        if self._blocked is not None:
            _forget(ctx.messages, _prompts(ctx.messages[-1:]))
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
        text = _told(result)
        kept = await session.finished(verdict, text, seconds=time.monotonic() - began)
        if kept == text:
            return result
        return replace(result, return_value=kept, content=None) if isinstance(result, ToolReturn) else kept

    async def before_output_validate(self, ctx: RunContext[AgentDepsT], *, output_context: OutputContext, output: RawOutput) -> RawOutput:
        """Judge a call of a function that makes the output of the run. The model tries again where it may not run."""
        if not output_context.has_function or ctx.partial_output:
            return output
        verdict = self._verdicts[_output_id(output_context)] = await self._judge_output(ctx, output_context, _object(output))
        return _as(output, verdict.call.input) if verdict.rewritten else output

    async def wrap_output_process(
        self, ctx: RunContext[AgentDepsT], *, output_context: OutputContext, output: Any, handler: WrapOutputProcessHandler
    ) -> Any:
        """Run a function that makes the output, which may be one of the model's text, once it has been judged."""
        if not output_context.has_function:
            return await handler(output)
        if ctx.partial_output:
            # Of a piece of its arguments nobody can say what would run.
            raise ModelRetry("The output is not whole yet.")
        if self._blocked is not None:
            raise PromptBlocked(self._blocked)
        verdict = self._verdicts.pop(_output_id(output_context), None)
        if verdict is None:
            # A text is not validated before.
            verdict = await self._judge_output(ctx, output_context, {"text": output})
            output = verdict.call.input.get("text", output)
        session, began = await self._session(ctx), time.monotonic()
        try:
            with session.running(verdict):
                result = await handler(output)
        except Exception as error:
            await session.finished(verdict, str(error), is_error=True, seconds=time.monotonic() - began)
            raise
        # The model does not get it, so there is nothing to patch.
        await session.finished(verdict, text_of(result), seconds=time.monotonic() - began)
        return result

    async def _judge_output(self, ctx: RunContext[AgentDepsT], output: OutputContext, arguments: dict[str, Any]) -> Verdict:
        call = output.tool_call
        name = output.function_name or (call.tool_name if call is not None else "final_result")
        verdict = await (await self._session(ctx)).judge(_output_id(output), name, arguments)
        if verdict.result is not None:
            raise ModelRetry(verdict.result or NO_REASON)
        return verdict


def _output_id(output: OutputContext) -> str:
    return "output" if output.tool_call is None else output.tool_call.tool_call_id


def _told(result: Any) -> str:
    """What the model gets to read of a tool's result: also what the tool sends along in a message of its own."""
    if not isinstance(result, ToolReturn):
        return text_of(result)
    return "\n".join(filter(None, (text_of(result.return_value), _text(result.content or ""))))


def _conversation(ctx: RunContext[Any]) -> str:
    return str(ctx.conversation_id or ctx.run_id)


def _model_name(ctx: RunContext[Any]) -> str:
    return str(ctx.model.model_name)


def _text(prompt: Any) -> str:
    """The texts of a prompt."""
    if isinstance(prompt, str):
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


def _prompts(messages: Iterable[ModelMessage]) -> list[UserPromptPart]:
    return [part for message in messages if isinstance(message, ModelRequest) for part in message.parts if isinstance(part, UserPromptPart)]


def _last_requests(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """What the model has not replied to: a run may be given its prompt as the end of its history."""
    return list(takewhile(lambda message: isinstance(message, ModelRequest), reversed(messages)))[::-1]


def _forget(messages: list[ModelMessage], blocked: Sequence[UserPromptPart]) -> None:
    """Take blocked prompts out of a conversation."""
    gone = {id(part) for part in blocked}
    for index, message in enumerate(messages):
        if isinstance(message, ModelRequest) and not gone.isdisjoint(map(id, message.parts)):
            parts = [
                replace(part, content=BLOCKED_PROMPT) if isinstance(part, UserPromptPart) and id(part) in gone else part
                for part in message.parts
            ]
            messages[index] = replace(message, parts=parts)


def _takes_text(request: ModelRequestContext) -> bool:
    """Whether any text is an answer: it is not where a text has to be JSON of a schema."""
    parameters = request.model_request_parameters
    return parameters.allow_text_output and parameters.output_mode in ("text", "tool")
