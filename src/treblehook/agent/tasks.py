"""Rows 4 and 18: a turn as a task, from its start with a seed to its end, at which a hook may have it done again."""

from collections.abc import Sequence

from msgspec.structs import replace

from treblehook.agent.errors import LimitReached
from treblehook.agent.replies import Replies
from treblehook.agent.seeding import budget_of, take_seed
from treblehook.agent.state import SessionState
from treblehook.engine import Handler
from treblehook.lifecycle import Message, Reopen, SeedContext, TaskEnd, TaskStart


class Task:
    """The task of one turn. It has an end only once it has begun, and each attempt ends once."""

    def __init__(self, state: SessionState, replies: Replies) -> None:
        self._state = state
        self._replies = replies
        self._name = state.keeper.name()
        self._runs = False
        self._reopens = 0
        self._first = ""
        self._afresh: list[Message] = []

    async def start(self, prompts: Sequence[str], first: str) -> None:
        """Announce it; its seed stands in front of the message `first`, at the end where there is none."""
        state, name = self._state, self._name
        self._runs = True
        self._first = first
        event = TaskStart(
            task=name.id,
            context=name.context,
            source=name.source,
            input_bytes=len("\n\n".join(prompts).encode("utf-8", "replace")),
            budget_tokens=budget_of(state),
            context_window=(state.window or 0) if state.policy.seed_budget is not None else 0,
            prior_tokens=name.prior_tokens,
            **state.facts.fields(),
        )
        outcome = await state.fire(event)
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, SeedContext):
                await self._seed(contribution.handler, contribution.decision.messages)
        self._afresh = list(state.conversation.messages)

    async def _seed(self, handler: Handler, messages: Sequence[Message]) -> None:
        state = self._state
        seed = await take_seed(state, handler.name, messages)
        said = state.conversation.messages
        behind = said[0].id if state.policy.seeds_first and said else self._first
        for message in seed.messages:
            state.recorder.message(state.conversation.insert_before(behind, message), before=behind)
        state.keeper.seeded(seed)

    async def end(self, exit_status: str, *, may_reopen: bool) -> Message | None:
        """The loop has returned; answers what a hook has said for the task to be done again.

        Raises `LimitReached` where it may not be any more.
        """
        if not self._runs:
            return None
        self._runs = False
        outcome = await self._state.fire(TaskEnd(task=self._name.id, exit_status=exit_status, **self._state.facts.fields()))
        if exit_status == "canceled" or (exit_status != "ok" and not self._state.policy.reopens_failed):
            return None
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, Reopen):
                return self._reopened(contribution.handler, contribution.decision.feedback, allowed=may_reopen)
        return None

    def _reopened(self, handler: Handler, feedback: str, *, allowed: bool) -> Message:
        """The next attempt knows nothing of this one's replies; what was asked stays, and so does the seed."""
        state = self._state
        if self._reopens >= state.policy.max_reopens or not allowed:
            state.keeper.exhausted(handler.name)
            what = f"{handler.name} reopened the task again after {self._reopens} reopens: {feedback}"
            raise LimitReached(what, "reopen_budget_exhausted")
        self._reopens += 1
        self._runs = True
        conversation = state.conversation
        retold = state.keeper.reopened(handler.name, feedback)
        if retold is not None:
            asked = [replace(message, text=retold) if message.id == self._first else message for message in self._afresh]
            conversation.restart(asked)
            state.recorder.restarted(conversation.messages)
            state.recorder.write("row", text=f"{handler.name} reopened the task", hook=handler.name)
            return next(message for message in conversation.messages if message.id == self._first)
        conversation.restart([message for message in conversation.messages if message.id not in self._replies.ids])
        state.recorder.restarted(conversation.messages)
        return state.add_from(handler, feedback, row=f"{handler.name} reopened the task")
