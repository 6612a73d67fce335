"""A session as plain text, for a pipe or a file."""

from typing import Any

from treblehook.agent.steps import TurnEnd
from treblehook.cli.output.cards import label, output, subject, summary
from treblehook.cli.output.narration import Narration
from treblehook.cli.output.safe_text import one_line, safe
from treblehook.cli.output.stream import Stream
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall


class Plain(Narration):
    """Rows, one line for each tool call and one for its result (more where a hook wants that), and replies on `out`; the rest on `err`."""

    def __init__(self, out: Stream, err: Stream) -> None:
        super().__init__()
        self._out = out
        self._err = err
        self._saying = ""

    def row(self, by: str, text: str) -> None:
        """A row, after a dot."""
        self._say(by)
        self._write(by, "· ", text)

    def said(self, delta: str) -> None:
        """Keep it until it is whole."""
        self._saying += delta

    def unsaid(self) -> None:
        """Forget it."""
        self._saying = ""

    def reply(self, text: str) -> None:
        """The reply, whole."""
        self._saying = ""
        self._write("", "", text)

    def call_started(self, by: str, call: ToolCall, display: Display | None) -> None:
        """What is called, after what the model said to it."""
        self._say(by)
        self._write(by, "> ", one_line(f"{label(call, display)}: {subject(call, display)}"))

    def call_finished(self, by: str, outcome: CallOutcome, display: Display | None) -> None:
        """What came of it, behind as many lines of the result as a hook wants shown."""
        for line in output(outcome, display, 0):
            self._write(by, "  | ", line)
        self._write(by, "  ", summary(outcome, display))

    def waiting_for(self, what: str | None, seconds: float) -> None:
        """A note, once for each wait."""
        if what is not None:
            self.problem(what)

    def turn_ended(self, end: TurnEnd) -> None:
        """Say why there is no reply."""
        self._say()
        super().turn_ended(end)
        if end.status in ("blocked", "interrupted"):
            self.problem(f"{end.status}: {one_line(end.reason, 2000)}")

    def problem(self, line: str) -> None:
        """A line on `err`."""
        self._err.write(safe(line) + "\n")

    def told(self, session: str, command: str, result: dict[str, Any]) -> None:
        """What a command came to."""
        super().told(session, command, result)
        # Only a chat lays out tables.
        from treblehook.cli.output.tables import told

        for line in told(command, result):
            self._write("", "", line)

    def misunderstood(self, session: str, message: str) -> None:
        """Input that could not be taken."""
        self.problem(message)

    def _say(self, by: str = "") -> None:
        """Write what the model has said, unless what comes next is a subagent's doing."""
        if by:
            return
        if self._saying.strip():
            self._write("", "", self._saying)
        self._saying = ""

    def _write(self, by: str, mark: str, text: str) -> None:
        lead = f"[{by}] {mark}" if by else mark
        self._out.write(lead + safe(text).rstrip("\n").replace("\n", "\n" + " " * len(lead)) + "\n")
