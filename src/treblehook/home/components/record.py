"""What was said in a launch, for hooks that may read it (murmur.md 3.7). All its tasks share one context, so they share the record."""

from collections.abc import Sequence

from treblehook.agent.conversation import Conversation
from treblehook.contracts.murmur import services
from treblehook.lifecycle import Message


class ConversationRecord(services.ConversationRecord):
    """Messages in the order in which they were first seen, also those that are in the conversation no more. Where it is not `on`, none."""

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._conversation: Conversation | None = None
        self._messages: list[Message] = []
        self._known: set[str] = set()

    def follow(self, conversation: Conversation) -> None:
        """Keep what is said there."""
        self._conversation = conversation

    def look(self) -> None:
        """See what is new."""
        if self._conversation is None or not self._on:
            return
        for message in self._conversation.messages:
            if message.id not in self._known:
                self._known.add(message.id)
                self._messages.append(message)

    async def messages(self) -> Sequence[Message]:
        """The oldest first."""
        self.look()
        return tuple(self._messages)
