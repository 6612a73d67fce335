"""The conversation of a session: its messages in order, and how full they make the context window."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from treblehook.agent.models.model import Usage
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message

_BYTES_PER_TOKEN = 4


class Conversation:
    """The messages as the model has them. `new_id` names a message that has no id yet.

    `left` is what the last `restart` left, in tokens, once a provider has counted it.
    """

    def __init__(self, messages: Iterable[Message], new_id: Callable[[], str]) -> None:
        self.new_id = new_id
        self.messages: list[Message] = []
        self.restart(messages)
        self._restarted = False

    def add(self, message: Message) -> Message:
        """Append `message`, with an id."""
        named = message if message.id else replace(message, id=self.new_id())
        self.messages.append(named)
        return named

    def insert_before(self, message_id: str, message: Message) -> Message:
        """Put `message`, with an id, in front of the message `message_id`; at the end where there is none."""
        named = message if message.id else replace(message, id=self.new_id())
        at = next((at for at, m in enumerate(self.messages) if m.id == message_id), len(self.messages))
        self.messages.insert(at, named)
        return named

    def set_input(self, call_id: str, value: dict[str, Any]) -> None:
        """Give the newest call `call_id` the input with which it really ran; what the provider signed no longer holds then."""
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            for call in message.calls:
                if call.id == call_id:
                    if call.input != value:
                        calls = tuple(replace(c, input=value) if c.id == call_id else c for c in message.calls)
                        self.messages[at] = replace(message, calls=calls, raw="")
                    return

    def find(self, message_id: str) -> Message | None:
        """The newest message of that id."""
        return next((message for message in reversed(self.messages) if message.id == message_id), None)

    def restart(self, messages: Iterable[Message]) -> None:
        """Go on from `messages`, each with an id."""
        self.messages = [message if message.id else replace(message, id=self.new_id()) for message in messages]
        self._measured = self._measured_at = 0
        self._restarted = True
        self.left = 0

    def measured(self, usage: Usage) -> None:
        """A provider counted the messages so far and its reply, which is about to be added."""
        self._measured = usage.input + usage.output
        self._measured_at = len(self.messages)
        if self._restarted:
            self._restarted, self.left = False, self._measured

    def tokens(self, system: str = "", tools: Iterable[ToolSpec] = ()) -> int:
        """How many tokens the context holds: the provider's last count, and bytes / 4 for what came since."""
        if self._measured:
            later = self.messages[self._measured_at :]
            # The reply itself was counted, unless it was not kept.
            replied = bool(later) and later[0].role == "assistant"
            return self._measured + sum(estimate(message) for message in later[replied:])
        offered = sum(len(msgspec.json.encode(tool)) for tool in tools)
        return len(system.encode()) // _BYTES_PER_TOKEN + offered // _BYTES_PER_TOKEN + sum(estimate(m) for m in self.messages)


def estimate(message: Message) -> int:
    """Tokens of one message, as bytes / 4."""
    calls = sum(len(msgspec.json.encode(call)) for call in message.calls)
    return (len(message.text.encode("utf-8", "replace")) + calls) // _BYTES_PER_TOKEN + 4
