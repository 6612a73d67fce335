"""What the host does for a hook that asks; every method is called on the event loop."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from treblehook.host.tokens import TokenCounter
from treblehook.lifecycle import Message

OUTPUT_TOKENS: Final = 8192
"""Of a completion at most."""


class InferenceRequest(Struct, frozen=True):
    """A request without tools. `model` None is the session's own; another one that is not there is an error, never replaced."""

    messages: tuple[Message, ...]
    system: str = ""
    model: str | None = None


class Completion(Struct, frozen=True):
    """The text of a reply, the model that was asked, and the host's own counts."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int


class InferenceFailed(Exception):
    """There is no reply; the message is what the hook is told."""


class Inference(Protocol):
    """The model of the session."""

    async def complete(self, hook: str, request: InferenceRequest) -> Completion:
        """One completion for `hook`, of `OUTPUT_TOKENS` at most; whoever keeps records records it. Raises `InferenceFailed`."""


class TaskText(Struct, frozen=True):
    """The text of the task that is worked on: as this attempt was given it, as it was at first, and its result once there is one."""

    given: str
    original: str
    output: str | None = None


class TaskIo(Protocol):
    """The task under way."""

    def current(self) -> TaskText | None:
        """None while no attempt of a task is under way. The end of an attempt is told before it is over."""


class ConversationUnavailable(Exception):
    """The record cannot be read; the message says why."""


class ConversationRecord(Protocol):
    """The conversation of the task's context."""

    async def messages(self) -> Sequence[Message]:
        """The oldest first; none where nothing is recorded. Raises `ConversationUnavailable`."""


class MurmurServices(Struct, frozen=True):
    """`inference` is None where there is no model to ask."""

    inference: Inference | None
    task: TaskIo
    conversation: ConversationRecord
    tokens: TokenCounter
