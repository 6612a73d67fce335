"""A session told to a person: what plain text and a terminal have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treblehook.agent.models.model import ModelFailed
from treblehook.agent.records import Record
from treblehook.agent.steps import TurnEnd
from treblehook.cli.output.cards import over
from treblehook.cli.output.output import Output
from treblehook.cli.output.safe_text import one_line
from treblehook.cli.output.waiting import Waiting
from treblehook.engine import INLINE, Call
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall


class Narration(Output, ABC):
    """Sorts what a listener is told into what a person is shown. Of subagents, only rows and tool calls are."""

    def __init__(self, every: float | None = None) -> None:
        self.session = ""
        self._waiting = Waiting(self.waiting_for, every, once=every is None)
        self._cards: dict[tuple[str, str], Display | None] = {}

    # What the two ways of showing do differently

    @abstractmethod
    def row(self, by: str, text: str) -> None:
        """A row of the transcript; `by` is the subagent that it belongs to, "" for the session itself."""

    @abstractmethod
    def said(self, delta: str) -> None:
        """The model goes on saying `delta`."""

    @abstractmethod
    def unsaid(self) -> None:
        """What the model has said since the last reply or tool call is void."""

    @abstractmethod
    def reply(self, text: str) -> None:
        """The model's reply is complete; its pieces have been `said`."""

    @abstractmethod
    def call_started(self, by: str, call: ToolCall, display: Display | None) -> None:
        """A tool call is about to run, or has been settled without running."""

    @abstractmethod
    def call_finished(self, by: str, outcome: CallOutcome, display: Display | None) -> None:
        """A tool call is over; `display` has the `max_lines` of its start where its end has none."""

    @abstractmethod
    def waiting_for(self, what: str | None, seconds: float) -> None:
        """Something takes long; None once it is over."""

    # What a listener is told

    def record(self, record: Record) -> None:
        """Show what a record holds for a person."""
        session = record["session"]
        match record["type"]:
            case "session" if record["parent"] is None:
                self.session = session
            case "row":
                self.row(self._by(session), record["text"])
            case "reply":
                self._waiting.end(session)
                if session == self.session:
                    self.reply(record["text"])
            case "compaction":
                self._waiting.end(session)
                text = f"compacted: {record['tokens_before']} tokens became {record['tokens_after']}"
                self.row(self._by(session), text)
            case "artifact":
                self.row(self._by(session), f"{record['hook']}: {record['content']}")
            case "hook" if record["error"] is not None:
                ended = record["ended"].replace("_", " ")
                self.problem(f"hook {record['hook']} ({record['event']}) {ended}: {one_line(record['error'])}")
            case "end":
                self._waiting.end(session)

    def text(self, session: str, delta: str) -> None:
        """Show what the model says."""
        self._waiting.end(session)
        if session == self.session:
            self.said(delta)

    def asking(self, session: str, call: Call) -> None:
        """A hook is asked; one that nobody waits for is not worth a word."""
        if call.handler.delivery is INLINE:
            self._waiting.end(session)
            self._waiting.begin(call, f"waiting for the hook {call.handler.name} ({call.handler.origin.event})")

    def answered(self, session: str, call: Call) -> None:
        """A hook is done."""
        self._waiting.end(call)

    def tool_started(self, session: str, call: ToolCall, display: Display | None) -> None:
        """Show a tool call."""
        self._waiting.end(session)
        self._cards[session, call.id] = display
        self.call_started(self._by(session), call, display)
        self._waiting.begin((session, call.id), f"waiting for the tool {call.name}")

    def tool_finished(self, session: str, outcome: CallOutcome, display: Display | None) -> None:
        """Show what came of it."""
        self._waiting.end((session, outcome.call.id))
        started = self._cards.pop((session, outcome.call.id), None)
        self.call_finished(self._by(session), outcome, over(started, display))

    def retrying(self, session: str, failure: ModelFailed, seconds: float) -> None:
        """The provider is asked again."""
        if session == self.session:
            self.unsaid()
        self.problem(f"{one_line(str(failure))}; asking again in {seconds:.1f} s")
        self._waiting.begin(session, f"waiting for {failure.spec}, again")

    def working(self, session: str, what: str) -> None:
        """Something that may take long has begun."""
        self._waiting.begin(session, what)

    def told(self, session: str, command: str, result: dict[str, Any]) -> None:
        """A compaction that failed has no record of its own."""
        if command == "/compact":
            self._waiting.clear()

    def turn_ended(self, end: TurnEnd) -> None:
        """Nothing is waited for; a failure is said."""
        self._waiting.clear()
        if end.status == "failed":
            self.problem(f"failed: {one_line(end.reason, 2000)}")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is waited for but the user's answer."""
        self._waiting.clear()
        yield

    def close(self) -> None:
        """The session is over."""
        self._waiting.clear()

    def _by(self, session: str) -> str:
        """How a subagent is called here: by the end of its id."""
        return "" if session == self.session else session[-6:]
