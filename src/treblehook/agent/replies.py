"""How a model's replies enter the conversation: each with its calls as hooks have made them, and every call answered."""

from collections.abc import Sequence

from msgspec.structs import replace

from treblehook.agent.models.model import ModelReply
from treblehook.agent.records import interrupted
from treblehook.agent.state import SessionState
from treblehook.host.calls import CallOutcome, Proposal
from treblehook.lifecycle import Message, ToolCall


class Replies:
    """The replies of one turn. `texts` is what they said, in order; `ids` are their messages and those of their results.

    `newest` is the message of the newest one, "" before the first.
    """

    def __init__(self, state: SessionState) -> None:
        self.texts: list[str] = []
        self.ids: set[str] = set()
        self._state = state
        self._received: ModelReply | None = None
        self.newest = ""
        self._open: list[Proposal] = []

    def receive(self, reply: ModelReply) -> ModelReply:
        """Take a reply that is there as a whole; answers it with an id of its own for each call."""
        self._received = _distinct(reply)
        return self._received

    def keep(self, reply: ModelReply, proposals: Sequence[Proposal] = ()) -> None:
        """Store a reply, with its calls as the hooks have made them."""
        calls = tuple(proposal.call for proposal in proposals)
        changed = any(proposal.call.input != proposal.asked for proposal in proposals)
        self.newest = self._add(reply.text, calls, raw="" if changed else reply.raw)
        self._open = list(proposals)
        if not calls:
            self._state.recorder.write("reply", text=reply.text)
            self.settled()

    def answer(self, outcome: CallOutcome) -> None:
        """The result of a call joins the conversation."""
        call = outcome.call
        self._state.conversation.set_input(call.id, call.input)
        self._answer(Message("tool", outcome.content, call_id=call.id, tool=call.name, is_error=outcome.is_error))

    def settled(self) -> None:
        """Store what the provider wants back with the last reply: no hook can change its calls any more."""
        kept = self._state.conversation.find(self.newest)
        if kept is not None:
            self._state.recorder.raw(kept)

    def interrupted(self) -> None:
        """The turn was stopped. What the model said stays, without calls that no hook has passed yet; the others are answered."""
        reply = self._received
        if reply is not None and not reply.calls:
            self.keep(reply)
        elif reply is not None and reply.text:
            self._add(reply.text, (), raw="")
        if self._open:
            self.give_up()
            self.settled()

    def give_up(self) -> None:
        """Answer the open calls. The input of one that hooks might still have changed is given up too, as the session file has it."""
        for call in [proposal.call for proposal in self._open]:
            cut = self._state.calls.cut
            if cut is not None and cut.call.id == call.id:
                self.answer(cut)
            else:
                self._state.conversation.set_input(call.id, {})
                self._answer(interrupted(call))

    def _answer(self, result: Message) -> None:
        self._open = [proposal for proposal in self._open if proposal.call.id != result.call_id]
        self.ids.add(self._state.conversation.add(result).id)

    def _add(self, text: str, calls: tuple[ToolCall, ...], *, raw: str) -> str:
        """The id of the new message."""
        self._received = None
        if text:
            self.texts.append(text)
        added = self._state.add(Message("assistant", text, calls=calls, raw=raw)).id
        self.ids.add(added)
        return added


def _distinct(reply: ModelReply) -> ModelReply:
    """Some models give several calls of one reply the same id; inputs and results would go to the wrong call."""
    taken = {call.id for call in reply.calls}
    if len(taken) == len(reply.calls):
        return reply
    used: set[str] = set()
    calls = []
    for call in reply.calls:
        new, number = call.id, 1
        while new in used or (number > 1 and new in taken):
            number += 1
            new = f"{call.id}-{number}"
        used.add(new)
        calls.append(replace(call, id=new))
    return replace(reply, calls=tuple(calls), raw="")
