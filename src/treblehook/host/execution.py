"""From the question whether a call may run to the run itself and whoever observes it: rows 12, 14, 15, and the rest of 16.

A call of a model and a call of a hook both come through here.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from treblehook.engine import Dispatcher, Outcome
from treblehook.host.facts import SessionFacts
from treblehook.host.foreign import fired, foreign
from treblehook.host.isolation import Isolation
from treblehook.host.permission import Permission
from treblehook.host.tool import AnyTool, ShellTool, ToolContext, ToolInputInvalid, ToolOutput
from treblehook.lifecycle import (
    Allow,
    BeforeExecute,
    Deny,
    Environment,
    Event,
    PermissionRequest,
    PreparedCall,
    ShellGate,
    ShellRan,
    ToolCall,
    ToolGate,
    ToolRan,
)

T = TypeVar("T")
E = TypeVar("E", bound=Event)


class Run(Struct, frozen=True):
    """What a call that may run came to. `refused` is true where a gate stayed shut: nothing ran, and `output` says why."""

    output: ToolOutput
    prepared: PreparedCall | None = None
    ms: float = 0.0
    refused: bool = False


class Ruling(Struct, frozen=True):
    """What isolation and the rules say of a call, in words for the model. `explicit` is false where no rule speaks of the call; `unruled`
    is the reason where it is none of the user's rules that asks."""

    kind: Literal["allow", "ask", "deny"]
    reason: str = ""
    explicit: bool = True
    unruled: str = ""


class Execution:
    """Runs the calls of one session. `turn`, of the gate and observation events, is set by the caller; `ran` counts the calls that
    who observes was told of, `shells` the commands among them that ran to completion (murmur.md 3.5).
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        facts: SessionFacts,
        tools: Mapping[str, AnyTool],
        permission: Permission,
        isolation: Isolation,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.turn = 0
        self.ran = 0
        self.shells = 0
        self._dispatcher = dispatcher
        self._facts = facts
        self._tools = tools
        self._permission = permission
        self._isolation = isolation
        self._clock = clock

    async def denial(self, call: ToolCall) -> str | None:
        """Why a call that no hook has replaced may not run, or None where it may: isolation, then row 12."""
        ruling = self.ruling(call)
        if ruling.kind != "ask":
            return None if ruling.kind == "allow" else ruling.reason
        decision = await self.requested(call)
        if decision is not None:
            return decision.reason if isinstance(decision, Deny) else None
        if await self._waited(self._permission.approve(call, self._tools[call.name].spec, ruling.unruled)):
            return None
        return f"Permission was not given, so the tool did not run. {ruling.unruled}".rstrip()

    async def requested(self, call: ToolCall) -> Allow | Deny | None:
        """Row 12: what hooks say to the question whether a call may run, a denial in words for the model; None leaves it to the user."""
        outcome = await self._fire(PermissionRequest(call=call, **self._facts.fields()))
        if isinstance(outcome.decision, Deny):
            by = outcome.by.name if outcome.by else "a hook"
            return Deny(f"Permission denied by {by}. {outcome.decision.reason}".strip())
        return outcome.decision if isinstance(outcome.decision, Allow) else None

    def ruling(self, call: ToolCall) -> Ruling:
        """What is said of a call before any hook or user is asked for a permission."""
        claim = self._isolation.claim_on(self._facts.session, call.name)
        if claim is not None:
            return Ruling("deny", claim.refusal(call.name))
        verdict = self._permission.verdict(call, self._tools[call.name].spec)
        if verdict.reason:
            return Ruling(verdict.kind, verdict.reason, unruled=verdict.reason)
        if verdict.kind == "deny":
            return Ruling("deny", f"Permission denied by the rule {verdict.rule}. The tool did not run.")
        return Ruling(verdict.kind, f"The rule {verdict.rule} wants the user asked.", explicit=verdict.rule is not None)

    async def gated(self, call: ToolCall) -> str | None:
        """Row 15 of a call that runs elsewhere: why it may not, or None where it may."""
        if not any(self._dispatcher.registry.listens(gate) for gate in (ShellGate, ToolGate)):
            # What a command stands for is looked up on the disk, for nobody else.
            return None
        context = self._context_of(call, {}, _nobody_hears)
        prepared = _prepare(self._tools[call.name], call, context)
        return prepared.content if isinstance(prepared, ToolOutput) else await self._refusal(call, prepared)

    def run_elsewhere(self, call: ToolCall, output: ToolOutput, ms: float) -> Run:
        """The run of a call that another agent has made, for `observed`."""
        prepared = _prepare(self._tools[call.name], call, self._context_of(call, {}, _nobody_hears))
        return Run(output, prepared if isinstance(prepared, PreparedCall) else None, ms)

    async def run(self, call: ToolCall, progress: Callable[[str], None]) -> Run:
        """Rows 14 and 15, and the run of a call that has its permission."""
        tool = self._tools[call.name]
        context = await self._context(call, progress)
        prepared = _prepare(tool, call, context)
        refusal = await self._refusal(call, prepared)
        if refusal is not None:
            return Run(ToolOutput(refusal, is_error=True), refused=True)
        began = self._clock()
        output = await self._waited(_run(tool, call, prepared, context))
        ms = (self._clock() - began) * 1000
        command = prepared if isinstance(prepared, PreparedCall) else None
        return Run(output, command, ms)

    async def _context(self, call: ToolCall, progress: Callable[[str], None]) -> ToolContext:
        """Row 14: the environment that hooks add."""
        outcome = await self._fire(BeforeExecute(call=call, **self._facts.fields()))
        environment: dict[str, str] = {}
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, Environment):
                environment.update(contribution.decision.variables)
        return self._context_of(call, environment, progress)

    def _context_of(self, call: ToolCall, environment: Mapping[str, str], progress: Callable[[str], None]) -> ToolContext:
        return ToolContext(Path(self._facts.workspace), self._facts.session, call.id, environment, progress)

    async def _refusal(self, call: ToolCall, prepared: PreparedCall | ToolOutput | None) -> str | None:
        """Row 15, right at the dispatch: what is said where a gate stays shut."""
        event: ShellGate | ToolGate
        if isinstance(prepared, PreparedCall):
            event = ShellGate(call=call, prepared=prepared, turn=self.turn, **self._facts.fields())
        else:
            text = msgspec.json.encode(call.input).decode()
            event = ToolGate(call=call, input_json=text, turn=self.turn, **self._facts.fields())
        outcome = await self._fire(event)
        if outcome.blocked is None:
            return None
        by = outcome.by.name if outcome.by else "a policy"
        return (
            f"The policy {by} refused this call: {outcome.blocked.reason}\n\n"
            "The call was not run. Making the same call again unchanged will be refused again."
        )

    async def observed(self, call: ToolCall, run: Run, content: str, is_error: bool) -> None:
        """The rest of row 16: tell who observes what ran, with the text as hooks have left it."""
        await self.tell(call, content, is_error, round(run.ms))
        shell = run.output.shell
        if run.prepared is not None and shell is not None:
            self.shells += 1
            outcome = shell if content == run.output.content else replace(shell, stdout=content, stderr="")
            await self._fire(ShellRan(call=call, prepared=run.prepared, outcome=outcome, turn=self.turn, **self._facts.fields()))

    async def tell(self, call: ToolCall, content: str, is_error: bool, duration_ms: int = 0) -> None:
        """Tell who observes tool calls."""
        self.ran += 1
        event = ToolRan(call=call, content=content, is_error=is_error, duration_ms=duration_ms, turn=self.turn, **self._facts.fields())
        await self._fire(event)

    async def _fire(self, event: E) -> Outcome[E]:
        return await fired(event, self._dispatcher)

    async def _waited(self, work: Coroutine[Any, Any, T]) -> T:
        return await foreign(work, self._dispatcher.background)


def _nobody_hears(text: str) -> None:
    """A tool that runs elsewhere says nothing here."""


def _prepare(tool: AnyTool, call: ToolCall, context: ToolContext) -> PreparedCall | ToolOutput | None:
    """The command of a shell tool, resolved once; its result where it cannot be; None for any other tool."""
    if not isinstance(tool, ShellTool):
        return None
    try:
        return tool.prepare(call.input, context)
    except Exception as error:
        return _failed(call, error)


async def _run(tool: AnyTool, call: ToolCall, prepared: PreparedCall | ToolOutput | None, context: ToolContext) -> ToolOutput:
    if isinstance(prepared, ToolOutput):
        return prepared
    try:
        if isinstance(tool, ShellTool):
            assert prepared is not None, "a shell tool prepares or says why not"
            return await tool.run_prepared(prepared, call.input, context)
        return await tool.run(call.input, context)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody stopped it: a library that it uses gave up.
        return _failed(call, error)
    except Exception as error:
        return _failed(call, error)


def _failed(call: ToolCall, error: BaseException) -> ToolOutput:
    """The result of a tool that raised; an input that does not fit it is told in the tool's own words."""
    if isinstance(error, ToolInputInvalid):
        return ToolOutput(str(error), is_error=True)
    return ToolOutput(f"The tool {call.name} failed: {type(error).__name__}: {error}", is_error=True)
