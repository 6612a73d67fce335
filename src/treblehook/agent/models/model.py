"""What a model is to the agent: one request, streamed, answered by one reply."""

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message, ToolCall

Stop = Literal["end", "tools", "length", "refusal"]


class Usage(Struct, frozen=True):
    """Tokens of one request, as the provider counts them; `input` includes what was read from a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


class ModelQuery(Struct, frozen=True):
    """One request to a provider. `effort` is "" for the provider's default; `max_tokens` 0 likewise."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    effort: str = ""
    max_tokens: int = 0


class ModelReply(Struct, frozen=True):
    """One reply, received whole. `raw` is what the provider wants back unchanged (thinking, signatures), as JSON text."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"
    usage: Usage = Usage()
    raw: str = ""


class Model(Protocol):
    """A model behind a SPEC such as `anthropic:NAME`; `window` is its context window in tokens where it is known."""

    @property
    def spec(self) -> str:
        """The SPEC it was opened from."""

    @property
    def window(self) -> int | None:
        """Context window in tokens."""

    async def reply(self, query: ModelQuery, on_text: Callable[[str], None]) -> ModelReply:
        """Ask once. `on_text` gets the text as it streams in; of a request that fails it is void. Raises `ModelFailed`."""


FailureKind = Literal["refused", "rate_limited", "overloaded", "server", "cut", "malformed", "rejected", "unauthorized", "timeout"]


class ModelFailed(Exception):
    """A provider gave no usable reply; one line that a user can act on.

    `status` is the HTTP status where there was one; `retryable` says whether the same request may succeed later;
    `retry_after` is the wait in seconds that the provider asked for, None where it asked for none.
    """

    def __init__(
        self,
        spec: str,
        kind: FailureKind,
        detail: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{spec}: {detail}")
        self.spec = spec
        self.kind = kind
        self.detail = detail
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


class ModelSpecInvalid(Exception):
    """A SPEC names no model that can be opened; `spec` is what was given, the message says what is allowed or missing."""

    def __init__(self, spec: str, problem: str) -> None:
        super().__init__(f"model {spec!r}: {problem}")
        self.spec = spec
        self.problem = problem
