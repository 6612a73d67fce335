"""An agent that runs elsewhere and calls its own tools: it tells what is about to happen, and is told what hooks make of it.

The gateway and the adapters for SDKs drive this; the rows are those of the lifecycle table (design, section 3).
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.engine import Contribution, Dispatcher
from treblehook.host.calls import CallOutcome, CallPath, Judged
from treblehook.host.facts import SessionFacts
from treblehook.host.foreign import fired
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import (
    AddContext,
    Allow,
    CompactionStarting,
    Continue,
    Deny,
    Inject,
    PromptSubmitted,
    Reopen,
    SeedContext,
    SessionEnd,
    SessionStart,
    SubagentFinished,
    TaskEnd,
    TaskStart,
    ToolCall,
    TurnComplete,
    TurnEnding,
)

CONTINUATIONS: Final = 1
"""How often hooks send the model back in one turn. Some agents know no limit of their own."""


class Started(Struct, frozen=True):
    """What start hooks said: context for the conversation, "" for none, and why the session is refused, None where it is not."""

    context: str
    refusal: str | None = None


class Prompted(Struct, frozen=True):
    """What hooks said to a prompt: context to go with it, "" for none, or why the model does not get to see it."""

    context: str = ""
    blocked: str | None = None


class OutsideAgent:
    """One session of an agent elsewhere. `refusal` is set once its start has been refused: every call is refused from then on. `parent` is
    the session that a subagent works for, whose turn its own calls belong to.

    `tools` are the specs of those that are known by name; calls of any other are judged too. Cancelling a method ends the wait at once.
    """

    def __init__(self, dispatcher: Dispatcher, facts: SessionFacts, calls: CallPath, *, tools: tuple[str, ...] = ()) -> None:
        self.facts = facts
        self.refusal: str | None = None
        self.parent: OutsideAgent | None = None
        self._dispatcher = dispatcher
        self._calls = calls
        self._tools = tools
        self._narrowed: tuple[str, ...] | None = None
        self._turns = 0
        self._continuations = 0
        self._prompt = ""
        self._task = False
        self._held: Inject | None = None

    @property
    def turns(self) -> int:
        """How many prompts there have been."""
        return self._turns

    async def start(self, reason: Literal["start", "resume", "compacted"] = "start", model: str = "") -> Started:
        """Row 2."""
        outcome = await fired(SessionStart(reason=reason, model=model, **self.facts.fields()), self._dispatcher)
        if outcome.blocked is not None and reason != "compacted":
            self.refusal = outcome.blocked.reason
        return Started(_texts(outcome.contributions), self.refusal)

    async def prompt(self, text: str, model: str = "") -> Prompted:
        """Rows 3 and 4: a prompt of the user begins a turn. A wish of hooks for fewer tools is kept by refusing calls of the others."""
        if self.refusal is not None:
            return Prompted(blocked=self.refusal)
        held, self._held = self._held, None
        event = PromptSubmitted(prompt=text, model=model, tools=self._tools, **self.facts.fields())
        outcome = await fired(event, self._dispatcher)
        if outcome.blocked is not None:
            self._held = held
            return Prompted(blocked=outcome.blocked.reason)
        self._narrowed = outcome.value.tools if outcome.value.tools != self._tools else None
        self._turns += 1
        self._continuations = 0
        self._prompt = text
        seed = await self._begin_task(text)
        return Prompted("\n\n".join(filter(None, (held.content if held else "", _texts(outcome.contributions), seed))))

    async def _begin_task(self, text: str) -> str:
        await self._end_task("ok")
        self._task = True
        size = len(text.encode("utf-8", "replace"))
        event = TaskStart(task=self._task_name, source="prompt", input_bytes=size, **self.facts.fields())
        outcome = await fired(event, self._dispatcher)
        seeds = [one.decision for one in outcome.contributions if isinstance(one.decision, SeedContext)]
        return "\n\n".join(message.text for seed in seeds for message in seed.messages)

    @property
    def _task_name(self) -> str:
        return f"{self.facts.session}-{self._turns}"

    async def judge(self, call: ToolCall) -> Judged:
        """Rows 10, 11 and 15 of a call that is about to run."""
        if self.refusal is not None:
            return Judged(call, call.input, f"The session was refused: {self.refusal}")
        narrowed = self._left_out(call.name)
        if narrowed is not None:
            offered = ", ".join(narrowed) or "none"
            return Judged(call, call.input, f"A hook has narrowed the tools of this turn, and {call.name} is not among them: {offered}.")
        self._calls.execution.turn = self._turns
        return await self._calls.judge(call)

    def _left_out(self, tool: str) -> tuple[str, ...] | None:
        """What hooks have narrowed the tools of the turn to, where `tool` is not among them; None where it is, or where nobody did."""
        if self._narrowed is not None and tool not in self._narrowed:
            return self._narrowed
        return None if self.parent is None else self.parent._left_out(tool)

    async def permission(self, call: ToolCall) -> Allow | Deny | None:
        """Row 12: the agent is about to ask its user. None leaves it to that."""
        if self.refusal is not None:
            return Deny(f"The session was refused: {self.refusal}")
        return await self._calls.execution.requested(call)

    async def finished(
        self, call: ToolCall, output: ToolOutput, asked: Mapping[str, Any] | None = None, duration_ms: float = 0.0
    ) -> CallOutcome:
        """Row 16: a call that has run, with its result as hooks leave it. `asked` is its input before hooks changed it."""
        return await self._calls.ran_elsewhere(call, dict(call.input if asked is None else asked), output, duration_ms)

    async def compacting(self, reason: Literal["manual", "automatic"], tokens: int = 0) -> None:
        """Row 9."""
        await fired(CompactionStarting(reason=reason, tokens=tokens, **self.facts.fields()), self._dispatcher)

    async def stopping(self, reply: str, *, again: bool = False) -> str | None:
        """Rows 18 and 19: the model has made its final reply. What it is sent back with, or None where the turn is over.

        `again` is true where the agent knows that hooks have sent it back already.
        """
        self._continuations = max(self._continuations, int(again))
        may = self._continuations < CONTINUATIONS
        event = TurnEnding(prompt=self._prompt, reply=reply, continuations=self._continuations, **self.facts.fields())
        outcome = await fired(event, self._dispatcher)
        if isinstance(outcome.decision, Continue) and may:
            self._continuations += 1
            return outcome.decision.context
        feedback = await self._end_task("ok")
        if feedback is not None and may:
            self._continuations += 1
            self._task = True
            return feedback
        await self._complete(reply)
        return None

    async def _end_task(self, exit_status: str) -> str | None:
        if not self._task:
            return None
        self._task = False
        outcome = await fired(TaskEnd(task=self._task_name, exit_status=exit_status, **self.facts.fields()), self._dispatcher)
        return next((one.decision.feedback for one in outcome.contributions if isinstance(one.decision, Reopen)), None)

    async def _complete(self, reply: str) -> None:
        event = TurnComplete(
            outcome="completed",
            turns=self._turns,
            prompt=self._prompt,
            reply=reply,
            continuation=bool(self._continuations),
            **self.facts.fields(),
        )
        outcome = await fired(event, self._dispatcher)
        for one in outcome.contributions:
            if isinstance(one.decision, Inject):
                self._held = one.decision

    async def subagent_finished(self, subagent: str, text: str) -> None:
        """Row 20, told to the parent."""
        event = SubagentFinished(subagent=subagent, background=False, outcome="completed", text=text, **self.facts.fields())
        await fired(event, self._dispatcher)

    async def end(self, reason: Literal["detached", "closed", "idle", "shutdown", "refused"] = "closed") -> None:
        """Row 21."""
        await self._end_task("canceled")
        execution = self._calls.execution
        event = SessionEnd(reason=reason, turns=self._turns, tool_calls=execution.ran, shell_calls=execution.shells, **self.facts.fields())
        await fired(event, self._dispatcher)


def _texts(contributions: tuple[Contribution, ...]) -> str:
    return "\n\n".join(one.decision.text for one in contributions if isinstance(one.decision, AddContext))
