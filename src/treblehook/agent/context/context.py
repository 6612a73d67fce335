"""Rows 5 to 7: what the requests of one turn carry.

Notes and attachments are no part of the conversation: they are put in front of it anew in each turn, so they do not pile up, a
compaction does not summarise them, and a resumed session does not bring old ones back. The session file keeps what was sent in a
record of its own, `context`, as hooks left it.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from treblehook.agent.blocking import stop_if_blocked
from treblehook.agent.context.attachments import ATTACHMENT_TAG
from treblehook.agent.context.block import NOTES_TAG
from treblehook.agent.context.precognition import notes_for
from treblehook.agent.state import SessionState
from treblehook.lifecycle import ContextAssembled, Message, ModelRequest


class Context:
    """The context of one turn."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._notes: Message | None = None
        self._attached: tuple[Message, ...] = ()
        self._rewritten: dict[str, str] = {}
        self._standing: tuple[tuple[Message, ...], int] | None = None

    async def find_notes(self, prompts: Sequence[str]) -> None:
        """Row 5, for what the user said; the context is put together anew."""
        self._notes = await notes_for(self._state, "\n\n".join(prompts))
        self.renew()

    def renew(self) -> None:
        """The conversation is not what it was: the next request asks row 7 again."""
        self._standing = None

    async def rewrite(self, prompt: Message | None, model: str) -> None:
        """Row 6, always from the turn's newest prompt as it was given; an earlier one stays as it was last rewritten.

        Raises `Blocked`.
        """
        original = prompt.text if prompt is not None else ""
        outcome = await self._state.fire(ModelRequest(prompt=original, model=model, **self._state.facts.fields()))
        stop_if_blocked(self._state, outcome)
        if prompt is not None:
            self._rewritten.pop(prompt.id, None)
            if outcome.value.prompt != original:
                self._rewritten[prompt.id] = outcome.value.prompt

    async def messages(self, model: str) -> tuple[Message, ...]:
        """Row 7, once per turn and again once `renew` was called; its result stands, and what came since follows it.

        Row 6's prompts stand in it where the prompts are still there. Raises `Blocked`.
        """
        conversation = self._state.conversation.messages
        if self._standing is None:
            self._standing = (await self._assembled(model), len(conversation))
        standing, length = self._standing
        current = (*standing, *conversation[length:])
        return tuple(replace(m, text=self._rewritten[m.id]) if m.id in self._rewritten else m for m in current)

    async def _assembled(self, model: str) -> tuple[Message, ...]:
        state = self._state
        self._attached += state.attachments.take()
        notes = () if self._notes is None else (self._notes,)
        event = ContextAssembled(messages=(*notes, *self._attached, *state.conversation.messages), model=model, **state.facts.fields())
        outcome = await state.fire(event)
        stop_if_blocked(state, outcome)
        messages = self._with_notes(outcome.value.messages)
        added = [message for message in messages if NOTES_TAG in message.tags or ATTACHMENT_TAG in message.tags]
        if added:
            state.recorder.write("context", messages=msgspec.to_builtins(added))
        return messages

    def _with_notes(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """A list that a hook made without the notes gets them back; a hook that wants none chooses none."""
        if self._notes is None or any(NOTES_TAG in message.tags for message in messages):
            return messages
        self._state.recorder.write(
            "row", text="a hook made the context anew without the notes; they are in front of it again", hook=NOTES_TAG
        )
        return (self._notes, *messages)
