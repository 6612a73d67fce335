"""What a session is made of while it is open; turn, compaction and subagents work on it."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from treblehook.agent.characters import readable
from treblehook.agent.context.attachments import Attachments
from treblehook.agent.context.settings import Precognition
from treblehook.agent.conversation import Conversation
from treblehook.agent.inbox import Inbox
from treblehook.agent.models.model import Model, ModelFailed, ModelQuery, ModelReply, Usage
from treblehook.agent.policy import Policy, TaskKeeper
from treblehook.agent.recorder import Recorder
from treblehook.engine import Background, Dispatcher, GaveUp, Handler, Outcome
from treblehook.host.calls import CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.foreign import fired, foreign
from treblehook.host.notes import Notes
from treblehook.host.reach import ReachRefused
from treblehook.host.tool import ToolOutput, ToolSpec
from treblehook.lifecycle import Event, Inject, Message, ToolCall

E = TypeVar("E", bound=Event)


class Models(Protocol):
    """Opens a model by its SPEC; raises `ModelSpecInvalid`."""

    def __call__(self, spec: str) -> Model:
        """The model behind `spec`."""


class Retrying(Protocol):
    """Asks a model, again where its failure is of the passing kind."""

    async def __call__(
        self,
        model: Model,
        query: ModelQuery,
        on_text: Callable[[str], None],
        *,
        on_retry: Callable[[ModelFailed, float], None],
    ) -> ModelReply:
        """The reply; raises the last `ModelFailed`."""


@dataclass
class SessionState:
    """One open session. `policy` and `keeper` are what its host makes of turns and tasks. `turns` counts the prompts that started a turn,
    those before a resume too.

    `usage` is summed, and `asked` counts requests, by use (`turn`, `compaction`, `ask`) and the model's SPEC. `last_request` is the
    newest request of a turn and the model that got it.

    `held` waits for the user's next prompt, `attachments` for the next context, `inbox` holds messages that no turn has taken yet,
    `delivered` results of background subagents that nobody has seen yet. `narrowed` is what turns offer where a hook asked for less
    than all `tools`. Before a turn `notes` are looked for in the session's `kilns`, as `precognition` says. `entering` is called
    before the start hooks are asked, `leaving` once the end hooks have been told and what waited for
    them is over, or in `gave_up`.
    """

    facts: SessionFacts
    dispatcher: Dispatcher
    background: Background
    conversation: Conversation
    recorder: Recorder
    calls: CallPath
    tools: dict[str, ToolSpec]
    model: Model
    models: Models
    retrying: Retrying
    system: str
    window: int | None
    policy: Policy = field(default_factory=Policy)
    keeper: TaskKeeper = field(default_factory=TaskKeeper)
    effort: str = ""
    parent: str | None = None
    profile: str = "default"
    turns: int = 0
    requests: int = 0
    held: Inject | None = None
    last_request: tuple[Model, ModelQuery] | None = None
    usage: dict[tuple[str, str], Usage] = field(default_factory=dict)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    inbox: Inbox = field(default_factory=Inbox)
    attachments: Attachments = field(default_factory=Attachments)
    notes: Notes | None = None
    kilns: tuple[str, ...] = ()
    precognition: Precognition = field(default_factory=Precognition)
    narrowed: tuple[str, ...] | None = None
    delivered: list[Message] = field(default_factory=list)
    unattended: set[asyncio.Task[Any]] = field(default_factory=set)
    entering: list[Callable[[], object]] = field(default_factory=list)
    leaving: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    gave_up: list[GaveUp] = field(default_factory=list)

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools that the next turn offers."""
        return tuple(self.tools) if self.narrowed is None else self.narrowed

    def offer(self, names: Sequence[str]) -> None:
        """Let the turns that follow offer these tools only. Raises `ReachRefused` for one that the session does not have."""
        unknown = [name for name in names if name not in self.tools]
        if unknown:
            raise ReachRefused(f"this session has no tool {', '.join(unknown)}; it has: {', '.join(self.tools)}")
        self.narrowed = tuple(name for name in self.tools if name in names)

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Run a tool for a hook, one of those that turns offer."""
        return await self.calls.call_for_hook(ToolCall(f"hook_{secrets.token_hex(8)}", name, arguments), frozenset(self.offered))

    def hold(self, inject: Inject) -> None:
        """Keep text for the user's next prompt, also over a resume; it replaces what was held before."""
        self.held = inject
        self.recorder.write("held", content=inject.content, position=inject.position)

    def later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work`, which nobody waits for."""
        task = asyncio.ensure_future(work)
        self.unattended.add(task)
        task.add_done_callback(self.unattended.discard)

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing runs that nobody waits for, or leave it behind."""
        if self.unattended:
            _, left = await asyncio.wait(self.unattended, timeout=seconds)
            for task in left:
                self.background.abandon(task)

    async def fire(self, event: E) -> Outcome[E]:
        """Ask the hooks about `event`; a cancellation ends the wait at once, and what a hook answers later is dropped."""
        return await fired(event, self.dispatcher)

    async def ask(self, model: Model, query: ModelQuery, use: str, *, stream: bool) -> ModelReply:
        """Ask `model`; what it cost is written down as `use`. Raises `ModelFailed`."""
        session, listener = self.facts.session, self.recorder.listener

        def on_text(delta: str) -> None:
            if stream:
                listener.text(session, delta)

        def on_retry(failure: ModelFailed, seconds: float) -> None:
            listener.retrying(session, failure, seconds)

        if stream:
            listener.working(session, f"waiting for {model.spec}")
        reply = await foreign(self.retrying(model, query, on_text, on_retry=on_retry), self.background)
        try:
            reply = readable(reply)
        except RecursionError as error:
            raise ModelFailed(model.spec, "rejected", "its reply has a call whose input is nested too deeply") from error
        self.spend(use, model, reply.usage)
        return reply

    def spend(self, use: str, model: Model, usage: Usage) -> None:
        """Write down what one request to `model` cost, and what it was for."""
        self.usage[use, model.spec] = self.usage.get((use, model.spec), Usage()) + usage
        self.asked[use, model.spec] += 1
        self.recorder.usage(use, model.spec, usage)

    def add(self, message: Message) -> Message:
        """Add a message to the conversation and to the session file."""
        added = self.conversation.add(message)
        self.recorder.message(added)
        return added

    def add_from(self, handler: Handler, text: str, *, row: str, display: str = "") -> Message:
        """Add a hook's text as a message of its own, with its one row in the transcript; `display` stands in for `row`."""
        message = self.add(Message("user", text, source=handler.origin.event, hook=handler.name))
        self.recorder.write("row", text=f"{display} · {handler.name}" if display else row, hook=handler.name)
        return message
