"""Whoever watches a session: the terminal, a JSON lines writer, a program."""

from treblehook.agent.models.model import ModelFailed
from treblehook.agent.records import Record
from treblehook.engine import Call
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall


class Listener:
    """Told of everything in the order in which it happens; does nothing by itself. `session` is the id of the one that speaks."""

    def record(self, record: Record) -> None:
        """A record of `--output jsonl`, with `type`, `at` and `session`."""

    def text(self, session: str, delta: str) -> None:
        """The model says `delta`."""

    def asking(self, session: str, call: Call) -> None:
        """A hook is about to be asked; nobody knows yet how long it takes."""

    def answered(self, session: str, call: Call) -> None:
        """That hook is done."""

    def tool_started(self, session: str, call: ToolCall, display: Display | None) -> None:
        """A tool call is about to run, or has just been settled without running."""

    def tool_said(self, session: str, call: ToolCall, text: str) -> None:
        """The running tool has produced `text`."""

    def tool_finished(self, session: str, outcome: CallOutcome, display: Display | None) -> None:
        """A tool call is over."""

    def retrying(self, session: str, failure: ModelFailed, seconds: float) -> None:
        """The provider failed and is asked again after `seconds`."""

    def working(self, session: str, what: str) -> None:
        """Something that may take long has begun, such as a compaction."""
