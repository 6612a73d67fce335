"""Rows 4 and 18: a turn as a task, from its start with a seed to its end, at which a hook may have it done again."""

import secrets
from collections.abc import Sequence

from treblehook.agent.errors import LimitReached
from treblehook.agent.replies import Replies
from treblehook.agent.state import Limits, SessionState
from treblehook.engine import Handler
from treblehook.lifecycle import Message, Reopen, SeedContext, TaskEnd, TaskStart


class Task:
    """The task of one turn. It has an end only once it has begun, and each attempt ends once."""

    def __init__(self, state: SessionState, replies: Replies) -> None:
        self._state = state
        self._replies = replies
        self._id = f"tsk_{secrets.token_hex(16)}"
        self._runs = False
        self._reopens = 0

    async def start(self, prompts: Sequence[str], first: str) -> None:
        """Announce it; its seed stands in front of the message `first`, at the end where there is none."""
        size = len("\n\n".join(prompts).encode("utf-8", "replace"))
        self._runs = True
        outcome = await self._state.fire(TaskStart(task=self._id, source="prompt", input_bytes=size, **self._state.facts.fields()))
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, SeedContext):
                for message in contribution.decision.messages:
                    self._state.recorder.message(self._state.conversation.insert_before(first, message), before=first)

    async def end(self, exit_status: str) -> Message | None:
        """The loop has returned; answers the feedback with which a hook has the task done again.

        Raises `LimitReached` where it may not be any more.
        """
        if not self._runs:
            return None
        self._runs = False
        outcome = await self._state.fire(TaskEnd(task=self._id, exit_status=exit_status, **self._state.facts.fields()))
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, Reopen) and exit_status == "ok":
                return self._reopened(contribution.handler, contribution.decision.feedback)
        return None

    def _reopened(self, handler: Handler, feedback: str) -> Message:
        """The next attempt knows nothing of this one's replies; all that was asked stays, and so does the seed."""
        if self._reopens >= Limits.max_reopens:
            raise LimitReached(f"{handler.name} reopened the task again after {self._reopens} reopens: {feedback}")
        self._reopens += 1
        self._runs = True
        conversation = self._state.conversation
        conversation.restart([message for message in conversation.messages if message.id not in self._replies.ids])
        self._state.recorder.restarted(conversation.messages)
        return self._state.add_from(handler, feedback, row=f"{handler.name} reopened the task")
