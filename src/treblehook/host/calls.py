"""The one path of a tool call: rows 10 to 17 of the lifecycle, in order (design, section 3).

Agent, capsule, gateway, adapters and hooks that call tools all come through here, so that no route skips the gate.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from treblehook.engine import Dispatcher, Outcome
from treblehook.host.execution import Execution
from treblehook.host.facts import SessionFacts
from treblehook.host.foreign import fired
from treblehook.host.isolation import Isolation
from treblehook.host.permission import Permission
from treblehook.host.spill import LIMIT, spill
from treblehook.host.tool import AnyTool, ToolOutput, ToolSpec
from treblehook.lifecycle import (
    Block,
    Decision,
    Deny,
    Display,
    Event,
    PreToolCall,
    Replace,
    ToolCall,
    ToolFinished,
    ToolProposed,
    ToolShown,
    ToolStarted,
)

E = TypeVar("E", bound=Event)

INTERRUPTED: Final = "The call was interrupted before it had a result; it may or may not have had an effect."
"""What the model is told of a call that nobody waited for."""

HOOK_CALLS_AT_ONCE: Final = 64
"""Calls of hooks that are under way in one session: a hook that calls a tool at its own call would go on without end."""


class Proposal(Struct, frozen=True):
    """A call after row 10: as it would run now, what the model asked for, and what already settled it."""

    call: ToolCall
    asked: dict[str, Any]
    offered: bool = True
    decision: Decision | None = None


class CallOutcome(Struct, frozen=True):
    """What a call came to: the text for the model, and whether a tool ran for it. `ms` is 0 where none did.

    `for_hook` is true for the call of a hook, whose result no model gets.
    """

    call: ToolCall
    asked: dict[str, Any]
    content: str
    is_error: bool
    ran: bool
    ms: float = 0.0
    terminate: bool = False
    for_hook: bool = False


class Judged(Struct, frozen=True):
    """What hooks and rules say of a call that is run by an agent elsewhere: `call` is what may run, `asked` what the model asked for.

    `refusal` says why it may not run; with `replaced` it is the result that a hook gave in the tool's place. `ask` says why the
    agent's user has to be asked.
    """

    call: ToolCall
    asked: dict[str, Any]
    refusal: str | None = None
    replaced: bool = False
    ask: str | None = None


class CallObserver(Protocol):
    """Whoever shows or records calls."""

    def started(self, call: ToolCall, asked: dict[str, Any], display: Display | None, *, for_hook: bool = False) -> None:
        """`call` is what would run, after all rewrites; `for_hook` is true where a hook makes it."""

    def progress(self, call: ToolCall, text: str) -> None:
        """The running tool has said something."""

    def ended(self, outcome: CallOutcome, display: Display | None) -> None:
        """The call is over, and this is what the model, or the hook, gets."""


class CallPath:
    """Takes the calls of one session through their rows; `execution` counts what ran, and is told the turn.

    Cancelling a call ends it at once, whatever hook, tool or prompt it waits for; one that had been announced as started is
    announced as over, and `cut` is its outcome until the next call is run. `undeclared` is what is said of a call that is not offered.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        facts: SessionFacts,
        tools: Mapping[str, AnyTool],
        permission: Permission,
        observer: CallObserver,
        results: Path,
        isolation: Isolation | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dispatcher = dispatcher
        self._facts = facts
        self._tools = tools
        self._observer = observer
        self._results = results
        self.execution = Execution(dispatcher, facts, tools, permission, isolation or Isolation(), clock)
        self.cut: CallOutcome | None = None
        self._for_hooks = 0
        self.undeclared: Callable[[ToolCall], str] = _not_there

    async def propose(self, call: ToolCall, offered: frozenset[str]) -> Proposal:
        """Row 10. A call that is not offered is refused before any hook is asked."""
        if not self._is_offered(call, offered):
            return Proposal(call, call.input, offered=False)
        outcome = await self._fire(ToolProposed(call=call, **self._facts.fields()))
        return Proposal(outcome.value.call, call.input, decision=outcome.decision)

    async def run(self, proposal: Proposal) -> CallOutcome:
        """Rows 11 to 17 of a proposed call."""
        self.cut = None
        if not proposal.offered:
            return await self._over(proposal, self._not_offered(proposal), ran=False)
        proposal = await self._come(proposal)
        if isinstance(proposal.decision, Block):
            return self._stopped(proposal, proposal.decision.reason)
        if isinstance(proposal.decision, Replace):
            self._observer.started(proposal.call, proposal.asked, None)
            return await self._over(proposal, self._replaced(proposal, proposal.decision), ran=False)
        denial = await self.execution.denial(proposal.call)
        if denial is not None:
            return self._stopped(proposal, denial)
        started = await self._fire(ToolStarted(call=proposal.call, **self._facts.fields()))
        self._observer.started(proposal.call, proposal.asked, _display(started.decision))
        return await self._over(proposal, self._execute(proposal), ran=True)

    async def judge(self, call: ToolCall) -> Judged:
        """Rows 10, 11 and 15 of a call that an agent elsewhere is about to run itself, and what the rules say of it.

        Row 12 is asked here only where a rule of ours wants the user asked; that agent's own prompts come by `requested`. What it shows,
        and in which environment it runs commands (rows 13 and 14), is its own affair.
        """
        self.cut = None
        proposed = await self._fire(ToolProposed(call=call, **self._facts.fields()))
        proposal = await self._come(Proposal(proposed.value.call, call.input, decision=proposed.decision))
        if isinstance(proposal.decision, Block):
            return self._refused(proposal, proposal.decision.reason)
        if isinstance(proposal.decision, Replace):
            return self._refused(proposal, proposal.decision.content, replaced=True)
        ruling = self.execution.ruling(proposal.call)
        decision = await self.execution.requested(proposal.call) if ruling.kind == "ask" and ruling.explicit else None
        refusal = ruling.reason if ruling.kind == "deny" else decision.reason if isinstance(decision, Deny) else None
        if refusal is None:
            refusal = await self.execution.gated(proposal.call)
        if refusal is not None:
            return self._refused(proposal, refusal)
        self._observer.started(proposal.call, proposal.asked, None)
        asks = ruling.kind == "ask" and ruling.explicit and decision is None
        return Judged(proposal.call, proposal.asked, ask=ruling.reason if asks else None)

    def _refused(self, proposal: Proposal, reason: str, *, replaced: bool = False) -> Judged:
        self._stopped(proposal, reason)
        return Judged(proposal.call, proposal.asked, reason, replaced)

    async def ran_elsewhere(self, call: ToolCall, asked: dict[str, Any], output: ToolOutput, ms: float) -> CallOutcome:
        """Row 16 of a call that an agent elsewhere has run, with the result as hooks have left it."""
        outcome = await self._finished(Proposal(call, asked), output, ms)
        await self.execution.observed(call, self.execution.run_elsewhere(call, output, ms), outcome.content, outcome.is_error)
        return self._told(outcome, None)

    async def _come(self, proposal: Proposal) -> Proposal:
        """Row 11, where nothing has settled the call."""
        if proposal.decision is not None:
            return proposal
        outcome = await self._fire(PreToolCall(call=proposal.call, **self._facts.fields()))
        return replace(proposal, call=outcome.value.call, decision=outcome.decision)

    async def call_for_hook(self, call: ToolCall, offered: frozenset[str]) -> ToolOutput:
        """A call that a hook makes: rows 12 to 15, and those who observe what ran (design, section 2). What it comes to is the hook's.

        It is recorded and shown like any other, but the conversation knows nothing of it; `call` has an id of its own.
        """
        self._for_hooks += 1
        try:
            return await self._called_by_hook(call, offered)
        finally:
            self._for_hooks -= 1

    async def _called_by_hook(self, call: ToolCall, offered: frozenset[str]) -> ToolOutput:
        denial = await self._hook_denial(call, offered)
        if denial is not None:
            self._observer.started(call, call.input, None, for_hook=True)
            if not self._is_offered(call, offered):
                await self.execution.tell(call, denial, is_error=True)
            self._told(CallOutcome(call, call.input, denial, is_error=True, ran=False, for_hook=True), None)
            return ToolOutput(denial, is_error=True)
        started = await self._fire(ToolStarted(call=call, **self._facts.fields()))
        self._observer.started(call, call.input, _display(started.decision), for_hook=True)
        ended = CallOutcome(call, call.input, INTERRUPTED, is_error=True, ran=True, for_hook=True)
        try:
            run = await self.execution.run(call, lambda text: self._observer.progress(call, text))
            kept, is_error = await self._kept(call, run.output.content), run.output.is_error
            ended = replace(ended, content=kept, is_error=is_error, ran=not run.refused, ms=run.ms)
            if not run.refused:
                await self.execution.observed(call, run, run.output.content, is_error)
            return run.output
        finally:
            self._told(ended, None)

    async def _hook_denial(self, call: ToolCall, offered: frozenset[str]) -> str | None:
        if not self._is_offered(call, offered):
            return self.undeclared(call)
        if self._for_hooks > HOOK_CALLS_AT_ONCE:
            return f"{HOOK_CALLS_AT_ONCE} calls of hooks are under way in this session; does one call a tool each time it is asked of one?"
        return await self.execution.denial(call)

    def _is_offered(self, call: ToolCall, offered: frozenset[str]) -> bool:
        return call.name in offered and call.name in self._tools

    async def _over(self, proposal: Proposal, rest: Coroutine[Any, Any, CallOutcome], *, ran: bool) -> CallOutcome:
        """The `rest` of a call that is announced as started, and as over even where the turn is stopped meanwhile."""
        try:
            return await rest
        except asyncio.CancelledError:
            self.cut = self._told(CallOutcome(proposal.call, proposal.asked, INTERRUPTED, is_error=True, ran=ran), None)
            raise

    async def _fire(self, event: E) -> Outcome[E]:
        return await fired(event, self._dispatcher)

    async def _execute(self, proposal: Proposal) -> CallOutcome:
        """Rows 14 to 17 of a call that may run."""
        call = proposal.call
        run = await self.execution.run(call, lambda text: self._observer.progress(call, text))
        if run.refused:
            return self._told(CallOutcome(call, proposal.asked, run.output.content, is_error=True, ran=False), None)
        outcome = await self._finished(proposal, run.output, run.ms)
        await self.execution.observed(call, run, outcome.content, outcome.is_error)
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
        kept = await self._kept(outcome.call, outcome.content)
        return self._told(replace(outcome, content=kept), _display(shown.decision))

    async def _kept(self, call: ToolCall, content: str) -> str:
        """A result as it is kept: big output goes to a file."""
        return content if len(content) <= LIMIT else await asyncio.to_thread(spill, content, self._results, call.id)

    def _stopped(self, proposal: Proposal, reason: str) -> CallOutcome:
        """A block or a denial: straight to the model's result."""
        self._observer.started(proposal.call, proposal.asked, None)
        return self._told(CallOutcome(proposal.call, proposal.asked, reason, is_error=True, ran=False), None)

    async def _not_offered(self, proposal: Proposal) -> CallOutcome:
        call = proposal.call
        text = self.undeclared(call)
        self._observer.started(call, proposal.asked, None)
        await self.execution.tell(call, text, is_error=True)
        return self._told(CallOutcome(call, proposal.asked, text, is_error=True, ran=False), None)

    def _told(self, outcome: CallOutcome, display: Display | None) -> CallOutcome:
        self._observer.ended(outcome, display)
        return outcome

    def spec(self, name: str) -> ToolSpec | None:
        """How the tool `name` is offered, or None where there is none."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec


def _not_there(call: ToolCall) -> str:
    return f"There is no tool named {call.name!r} to call here."


def _display(decision: Decision | None) -> Display | None:
    return decision if isinstance(decision, Display) else None
