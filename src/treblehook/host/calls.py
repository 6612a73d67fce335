"""The one path of a tool call: rows 10 to 17 of the lifecycle, in order (design, section 3).

Agent, capsule, gateway, adapters and hooks that call tools all come through here, so that no route skips the gate.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from treblehook.engine import Dispatcher, Outcome
from treblehook.host.facts import SessionFacts
from treblehook.host.foreign import fired, foreign
from treblehook.host.permission import Permission
from treblehook.host.spill import LIMIT, spill
from treblehook.host.tool import AnyTool, ShellTool, ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.lifecycle import (
    Allow,
    BeforeExecute,
    Block,
    Decision,
    Deny,
    Display,
    Environment,
    Event,
    PermissionRequest,
    PreparedCall,
    PreToolCall,
    Replace,
    ShellGate,
    ShellRan,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
)

T = TypeVar("T")
E = TypeVar("E", bound=Event)

INTERRUPTED: Final = "The call was interrupted before it had a result; it may or may not have had an effect."
"""What the model is told of a call that nobody waited for."""


class Proposal(Struct, frozen=True):
    """A call after row 10: as it would run now, what the model asked for, and what already settled it."""

    call: ToolCall
    asked: dict[str, Any]
    offered: bool = True
    decision: Decision | None = None


class CallOutcome(Struct, frozen=True):
    """What a call came to: the text for the model, and whether a tool ran for it. `ms` is 0 where none did."""

    call: ToolCall
    asked: dict[str, Any]
    content: str
    is_error: bool
    ran: bool
    ms: float = 0.0
    terminate: bool = False


class CallObserver(Protocol):
    """Whoever shows or records calls."""

    def started(self, call: ToolCall, asked: dict[str, Any], display: Display | None) -> None:
        """`call` is what would run, after all rewrites."""

    def progress(self, call: ToolCall, text: str) -> None:
        """The running tool has said something."""

    def ended(self, outcome: CallOutcome, display: Display | None) -> None:
        """The call is over, and this is what the model gets."""


class CallPath:
    """Takes the calls of one session through their rows. `turn`, of the gate and observation events, is set by the caller;
    `ran` counts calls that were dispatched, `shells` the commands among them.

    Cancelling a call ends it at once, whatever hook, tool or prompt it waits for; one that had been announced as started is
    announced as over, and `cut` is its outcome until the next call is run.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        facts: SessionFacts,
        tools: Mapping[str, AnyTool],
        permission: Permission,
        observer: CallObserver,
        results: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dispatcher = dispatcher
        self._facts = facts
        self._tools = tools
        self._permission = permission
        self._observer = observer
        self._results = results
        self._clock = clock
        self.cut: CallOutcome | None = None
        self.turn = 0
        self.ran = 0
        self.shells = 0

    async def propose(self, call: ToolCall, offered: frozenset[str]) -> Proposal:
        """Row 10. A call that is not offered is refused before any hook is asked."""
        if call.name not in offered or call.name not in self._tools:
            return Proposal(call, call.input, offered=False)
        outcome = await self._fire(ToolProposed(call=call, **self._facts.fields()))
        return Proposal(outcome.value.call, call.input, decision=outcome.decision)

    async def run(self, proposal: Proposal) -> CallOutcome:
        """Rows 11 to 17 of a proposed call."""
        self.cut = None
        if not proposal.offered:
            return await self._over(proposal, self._not_offered(proposal), ran=False)
        if proposal.decision is None:
            outcome = await self._fire(PreToolCall(call=proposal.call, **self._facts.fields()))
            proposal = replace(proposal, call=outcome.value.call, decision=outcome.decision)
        if isinstance(proposal.decision, Block):
            return self._stopped(proposal, proposal.decision.reason)
        if isinstance(proposal.decision, Replace):
            self._observer.started(proposal.call, proposal.asked, None)
            return await self._over(proposal, self._replaced(proposal, proposal.decision), ran=False)
        denial = await self._denial(proposal.call)
        if denial is not None:
            return self._stopped(proposal, denial)
        started = await self._fire(ToolStarted(call=proposal.call, **self._facts.fields()))
        self._observer.started(proposal.call, proposal.asked, _display(started.decision))
        return await self._over(proposal, self._execute(proposal), ran=True)

    async def _over(self, proposal: Proposal, rest: Coroutine[Any, Any, CallOutcome], *, ran: bool) -> CallOutcome:
        """The `rest` of a call that is announced as started, and as over even where the turn is stopped meanwhile."""
        try:
            return await rest
        except asyncio.CancelledError:
            self.cut = self._told(CallOutcome(proposal.call, proposal.asked, INTERRUPTED, is_error=True, ran=ran), None)
            raise

    async def _fire(self, event: E) -> Outcome[E]:
        return await fired(event, self._dispatcher)

    async def _waited(self, work: Coroutine[Any, Any, T]) -> T:
        return await foreign(work, self._dispatcher.background)

    async def _denial(self, call: ToolCall) -> str | None:
        """Row 12: why the call may not run, or None where it may."""
        spec = self._tools[call.name].spec
        verdict = self._permission.verdict(call, spec)
        if verdict.kind == "allow":
            return None
        if verdict.kind == "deny":
            return f"Permission denied by the rule {verdict.rule}. The tool did not run."
        outcome = await self._fire(PermissionRequest(call=call, **self._facts.fields()))
        if isinstance(outcome.decision, Allow):
            return None
        if isinstance(outcome.decision, Deny):
            by = outcome.by.name if outcome.by else "a hook"
            return f"Permission denied by {by}. {outcome.decision.reason}".strip()
        if await self._waited(self._permission.approve(call, spec)):
            return None
        return "Permission was not given, so the tool did not run."

    async def _execute(self, proposal: Proposal) -> CallOutcome:
        """Rows 14 to 17 of a call that may run."""
        call = proposal.call
        tool = self._tools[call.name]
        context = await self._context(call)
        prepared = _prepare(tool, call, context)
        refusal = await self._refusal(call, prepared)
        if refusal is not None:
            return self._told(CallOutcome(call, proposal.asked, refusal, is_error=True, ran=False), None)
        began = self._clock()
        output = await self._waited(_run(tool, call, prepared, context))
        duration_ms = (self._clock() - began) * 1000
        return await self._observed(proposal, output, prepared, duration_ms)

    async def _context(self, call: ToolCall) -> ToolContext:
        """Row 14: the environment that hooks add."""
        outcome = await self._fire(BeforeExecute(call=call, **self._facts.fields()))
        environment: dict[str, str] = {}
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, Environment):
                environment.update(contribution.decision.variables)
        return ToolContext(
            Path(self._facts.workspace),
            self._facts.session,
            call.id,
            environment,
            lambda text: self._observer.progress(call, text),
        )

    async def _refusal(self, call: ToolCall, prepared: PreparedCall | ToolOutput | None) -> str | None:
        """Row 15, right at the dispatch: what the model is told where a gate stays shut."""
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

    async def _observed(
        self, proposal: Proposal, output: ToolOutput, prepared: PreparedCall | ToolOutput | None, duration_ms: float
    ) -> CallOutcome:
        """Rows 16 and 17 of a call that ran."""
        call = proposal.call
        self.ran += 1
        self.shells += isinstance(prepared, PreparedCall)
        outcome = await self._finished(proposal, output, duration_ms)
        fields = self._facts.fields()
        duration = round(duration_ms)
        await self._fire(
            ToolRan(call=call, content=outcome.content, is_error=outcome.is_error, duration_ms=duration, turn=self.turn, **fields)
        )
        if isinstance(prepared, PreparedCall) and output.shell is not None:
            shell = output.shell if outcome.content == output.content else replace(output.shell, stdout=outcome.content, stderr="")
            await self._fire(ShellRan(call=call, prepared=prepared, outcome=shell, turn=self.turn, **fields))
        return await self._show(outcome)

    async def _finished(self, proposal: Proposal, output: ToolOutput, duration_ms: float) -> CallOutcome:
        event = ToolFinished(
            call=proposal.call, content=output.content, is_error=output.is_error, duration_ms=duration_ms, **self._facts.fields()
        )
        value = (await self._fire(event)).value
        return CallOutcome(proposal.call, proposal.asked, value.content, value.is_error, ran=True, ms=duration_ms)

    async def _replaced(self, proposal: Proposal, decision: Replace) -> CallOutcome:
        """A replacement skips to row 16 and then 17: nothing was dispatched, so nobody observes a run."""
        outcome = await self._finished(proposal, ToolOutput(decision.content, decision.is_error), 0.0)
        return await self._show(replace(outcome, ran=False, terminate=decision.terminate))

    async def _show(self, outcome: CallOutcome) -> CallOutcome:
        """Row 17, after big output has gone to a file."""
        event = ToolShown(call=outcome.call, content=outcome.content, is_error=outcome.is_error, **self._facts.fields())
        shown = await self._fire(event)
        kept = outcome.content
        if len(kept) > LIMIT:
            kept = await asyncio.to_thread(spill, outcome.content, self._results, outcome.call.id)
        return self._told(replace(outcome, content=kept), _display(shown.decision))

    def _stopped(self, proposal: Proposal, reason: str) -> CallOutcome:
        """A block or a denial: straight to the model's result."""
        self._observer.started(proposal.call, proposal.asked, None)
        return self._told(CallOutcome(proposal.call, proposal.asked, reason, is_error=True, ran=False), None)

    async def _not_offered(self, proposal: Proposal) -> CallOutcome:
        call = proposal.call
        text = f"There is no tool named {call.name!r} to call here."
        self._observer.started(call, proposal.asked, None)
        await self._fire(ToolRan(call=call, content=text, is_error=True, turn=self.turn, **self._facts.fields()))
        return self._told(CallOutcome(call, proposal.asked, text, is_error=True, ran=False), None)

    def _told(self, outcome: CallOutcome, display: Display | None) -> CallOutcome:
        self._observer.ended(outcome, display)
        return outcome

    def spec(self, name: str) -> ToolSpec | None:
        """How the tool `name` is offered, or None where there is none."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec


def _display(decision: Decision | None) -> Display | None:
    return decision if isinstance(decision, Display) else None


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
