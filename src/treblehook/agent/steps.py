"""The steps of a turn, and what one turn remembers between them. `turn.py` tells the order."""

import time
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from treblehook.agent.blocking import stop_if_blocked
from treblehook.agent.compaction import compact, is_full
from treblehook.agent.context.context import Context
from treblehook.agent.errors import LimitReached
from treblehook.agent.models.model import Model, ModelFailed, ModelQuery, ModelReply
from treblehook.agent.observation import response_event
from treblehook.agent.replies import Replies
from treblehook.agent.state import SessionState
from treblehook.agent.tasks import Task
from treblehook.engine import Outcome
from treblehook.host.calls import CallOutcome, Proposal
from treblehook.lifecycle import (
    AddContext,
    Artifact,
    Continue,
    Inject,
    Message,
    PromptSubmitted,
    ToolCall,
    TurnComplete,
    TurnEnding,
)

Status = Literal["finished", "failed", "blocked", "refused", "interrupted"]
Outcomes = Literal["completed", "error", "aborted"]


class TurnEnd(Struct, frozen=True):
    """How a turn, or a session that was refused, ended. `text` is its last final reply, `reason` the hook's or provider's words.

    `cut` is true where that reply ran into the provider's limit on its length.
    """

    status: Status
    text: str = ""
    reason: str = ""
    cut: bool = False


class Turn:
    """One turn of a session."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.model: Model = state.model
        self.effort = state.effort
        self.offered = state.offered
        self.replies = Replies(state)
        self.context = Context(state)
        self._task = Task(state, self.replies)
        self._prompts: list[Message] = []
        self._new: list[Message] = []
        self._asked: list[Message] = []
        self._requests = 0
        self._artifacts: list[tuple[str, Artifact]] = []
        self._continuations = 0
        self._cut = False
        self._terminated = False
        self._over = False

    # Row 3

    def take(self, prompts: Sequence[str], *, joined: bool = False) -> None:
        """Store messages of the user, behind what background subagents have delivered."""
        state = self.state
        self._asked += [state.add(message) for message in state.delivered]
        state.delivered.clear()
        self._new = [self._take_prompt(text, joined=joined) for text in prompts]

    def take_joined(self) -> None:
        """Store the messages that arrived since the last tool boundary."""
        self.take(self.state.inbox.take_now(), joined=True)

    def _take_prompt(self, text: str, *, joined: bool) -> Message:
        given = text
        held, self.state.held = self.state.held, None
        if held is not None and held.content:
            text = f"{held.content}\n\n{text}" if held.position == "user_prefix" else f"{text}\n\n{held.content}"
        message = self.state.conversation.add(Message("user", text))
        turn = {} if joined else {"turn": self.state.turns}
        changed = {} if text == given else {"given": given}
        self.state.recorder.write("prompt", text=text, id=message.id, joined=joined, **turn, **changed)
        self._prompts.append(message)
        self._asked.append(message)
        return message

    async def submit(self, *, joined: bool = False) -> None:
        """Ask the hooks about each message that was taken, in order; the first one of a turn may change its model.

        Raises `Blocked`, and `ModelSpecInvalid` for a model that cannot be opened.
        """
        before = self.model
        for place, message in enumerate(self._new):
            outcome = await self.state.fire(self._submitted(message.text, joined=joined))
            stop_if_blocked(self.state, outcome)
            self.offered = outcome.value.tools
            self._add_contexts(outcome)
            if place == 0 and not joined:
                self._change_model(outcome.value.model, outcome.value.effort)
        if self.model is not before:
            await self.compact_if_full()

    def _submitted(self, text: str, *, joined: bool) -> PromptSubmitted:
        return PromptSubmitted(
            prompt=text, model=self.model.spec, tools=self.offered, effort=self.effort, joined=joined, **self.state.facts.fields()
        )

    def _add_contexts(self, outcome: Outcome[PromptSubmitted]) -> None:
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, AddContext) and contribution.decision.text:
                handler, added = contribution.handler, contribution.decision
                row = f"{handler.name} added context"
                self._asked.append(self.state.add_from(handler, added.text, row=row, display=added.display))

    def _change_model(self, spec: str, effort: str) -> None:
        self.effort = effort
        if spec != self.model.spec:
            self.model = self.state.models(spec)

    # Row 4

    async def start_task(self, prompts: Sequence[str]) -> None:
        """A turn is a task; its seed stands in front of the turn's first message."""
        await self._task.start(prompts, self._prompts[0].id if self._prompts else "")

    # Rows 6, 7 and 8

    async def ask_model(self) -> ModelReply:
        """One request. Raises `Blocked`, `ModelFailed`, and `LimitReached` where the turn has made too many."""
        state = self.state
        if self._requests >= state.policy.max_requests:
            raise LimitReached(f"stopped after {state.policy.max_requests} requests in one turn", "max_turns_reached")
        self._terminated = False
        await self.context.rewrite(self._prompts[-1] if self._prompts else None, self.model.spec)
        messages = await self.context.messages(self.model.spec)
        tools = tuple(spec for name, spec in state.tools.items() if name in self.offered)
        query = ModelQuery(state.system, messages, tools, self.effort)
        state.last_request = (self.model, query)
        state.calls.execution.turn = state.requests
        began = time.monotonic()
        reply = self.replies.receive(await state.ask(self.model, query, "turn", stream=True))
        state.conversation.measured(reply.usage)
        event = response_event(state, query, reply, model=self.model.spec, milliseconds=(time.monotonic() - began) * 1000)
        outcome = await state.fire(event)
        self._artifacts = [(c.handler.name, c.decision) for c in outcome.contributions if isinstance(c.decision, Artifact)]
        if not state.policy.final_artifacts:
            self._send_artifacts()
        self._requests += 1
        state.requests += 1
        if reply.stop == "refusal":
            raise ModelFailed(self.model.spec, "rejected", reply.text or "the model refused to answer")
        return reply

    def _send_artifacts(self) -> None:
        for hook, artifact in self._artifacts:
            self.state.recorder.write("artifact", hook=hook, content=artifact.content)

    # Row 9

    async def compact_if_full(self, reply: ModelReply | None = None) -> None:
        """Compact an overfull conversation; what this turn was asked, by the user and by hooks, stays as it is.

        `reply` has just come, and is no part of it yet.
        """
        every = self.state.policy.compact_every_reply
        due = every if reply is not None and not reply.calls else reply is not None or not every
        if due and self.state.conversation.messages and is_full(self.state, self.model):
            await compact(self.state, self.model, "automatic", keep=self._asked)
            self.context.renew()

    # Rows 10 to 17

    async def propose(self, call: ToolCall) -> Proposal:
        """Row 10 of one call."""
        return await self.state.calls.propose(call, frozenset(self.offered))

    async def run_call(self, proposal: Proposal) -> CallOutcome:
        """Rows 11 to 17 of one call; its result joins the conversation."""
        outcome = await self.state.calls.run(proposal)
        self.replies.answer(outcome)
        return outcome

    def is_terminated(self, outcomes: Sequence[CallOutcome]) -> bool:
        """Whether hooks have replaced these calls, all of one reply, and want the turn to end with that."""
        self._terminated = all(outcome.terminate for outcome in outcomes)
        return self._terminated

    # Row 18

    async def goes_on(self, reply: ModelReply) -> bool:
        """Whether a hook sends the model back after its final reply; a turn gets one continuation."""
        decision, by = None, None
        self._cut = reply.stop == "length"
        if reply.stop == "end":
            prompt = "\n\n".join(message.text for message in self._prompts)
            event = TurnEnding(prompt=prompt, reply=reply.text, continuations=self._continuations, **self.state.facts.fields())
            outcome = await self.state.fire(event)
            decision, by = outcome.decision, outcome.by
        self.replies.keep(reply)
        if not isinstance(decision, Continue) or by is None or self._continuations:
            return False
        self._continuations += 1
        self._asked.append(self.state.add_from(by, decision.context, row=f"{by.name} continued the turn", display=decision.display))
        await self.compact_if_full()
        return True

    async def end_task(self, exit_status: str) -> bool:
        """The task's loop has returned; true where a hook has it done again. Raises `LimitReached` where it may not any more."""
        feedback = await self._task.end(exit_status, may_reopen=self._requests < self.state.policy.max_requests)
        if feedback is None:
            return False
        self._asked.append(feedback)
        self._prompts = [feedback if prompt.id == feedback.id else prompt for prompt in self._prompts]
        return True

    # Row 19

    async def complete(self, status: Status, outcome: Outcomes, reason: str = "") -> TurnEnd:
        """The turn is over; a hook may hold text for the user's next prompt."""
        self._over = True
        if status == "finished" and self.state.policy.final_artifacts:
            self._send_artifacts()
        done = await self.state.fire(self._completed(outcome))
        for contribution in done.contributions:
            if isinstance(contribution.decision, Inject):
                self.state.hold(contribution.decision)
        texts = self.replies.texts
        return TurnEnd(status, texts[-1] if texts else "", reason, cut=self._cut)

    def interrupted(self) -> None:
        """The user stopped the turn: what was said stays, open calls are answered, and nobody waits for the hooks of its end."""
        self.replies.interrupted()
        self.state.later(self._told("canceled", "aborted"))

    def broken(self) -> None:
        """Something of ours failed: open calls are answered, so that the session can go on if it is told to."""
        self.replies.give_up()
        self.state.later(self._told("failed", "error"))

    async def _told(self, exit_status: str, outcome: Outcomes) -> None:
        await self._task.end(exit_status, may_reopen=False)
        if not self._over:
            await self.state.fire(self._completed(outcome))

    def _completed(self, outcome: Outcomes) -> TurnComplete:
        return TurnComplete(
            outcome=outcome,
            turns=self.state.turns,
            prompt="\n\n".join(message.text.strip() for message in self._prompts),
            reply="\n\n".join(text.strip() for text in self.replies.texts),
            message=self.replies.newest,
            continuation=bool(self._continuations),
            terminated=self._terminated,
            **self.state.facts.fields(),
        )
