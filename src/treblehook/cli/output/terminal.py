"""A session on a terminal: streamed text, tool cards, and a line that says what is being waited for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from treblehook.agent.steps import TurnEnd
from treblehook.cli.output.cards import head, label, limit, output, subject, summary
from treblehook.cli.output.live import Live
from treblehook.cli.output.narration import Narration
from treblehook.cli.output.safe_text import safe
from treblehook.cli.output.screen import Screen
from treblehook.cli.output.stream import Stream
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, ToolCall

_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS: Final = 0.1
_CARD_LINES: Final = 8


class Terminal(Narration):
    """Shows everything on one terminal; `err` takes the problems where it is not the same one."""

    def __init__(self, out: Stream, err: Stream) -> None:
        super().__init__(every=_FRAME_SECONDS)
        self.screen = Screen(out, Console(highlight=False, markup=False, emoji=False, force_terminal=True))
        self._err = err
        self._said = False
        self._frame = 0
        self._live = Live()
        self._beside = ""

    def row(self, by: str, text: str) -> None:
        """A row, dimmed."""
        self._finish_text(by)
        self.screen.print(_lead(by, "· ", "cyan").append(safe(text).rstrip(), "dim"))

    def said(self, delta: str) -> None:
        """Show it as it comes."""
        self._said = True
        self.screen.stream(safe(delta))

    def unsaid(self) -> None:
        """Take back the unfinished line; lines above it stay, and the problem that follows says why."""
        self._said = False
        self.screen.drop_stream()

    def reply(self, text: str) -> None:
        """All of it has been shown, unless nothing was streamed."""
        if not self._said and text:
            self.screen.stream(safe(text))
        self._finish_text()

    def call_started(self, by: str, call: ToolCall, display: Display | None) -> None:
        """The head of a card."""
        self._finish_text(by)
        self._quiet()
        title = _lead(by, "● ", "blue").append(label(call, display), "bold").append("  ")
        about = head(safe(subject(call, display)).strip("\n").split("\n"), _CARD_LINES)
        self.screen.print(title.append("\n".join(about)))

    def tool_said(self, session: str, call: ToolCall, text: str) -> None:
        """The newest line stands beside what is waited for; where a hook says how many, so many stand above it."""
        started = self._cards.get((session, call.id))
        self._live.say((session, call.id), text, limit(started, 1))
        if started is not None and started.max_lines is not None:
            self.screen.card, self._beside = self._live.lines, ""
        else:
            self.screen.card, self._beside = [], "  ".join(["", *self._live.lines])

    def call_finished(self, by: str, outcome: CallOutcome, display: Display | None) -> None:
        """The result on the card: a few of its lines, and what came of it."""
        self._quiet()
        card = [_lead(by, "  │ ", "dim").append(line, "dim") for line in output(outcome, display, _CARD_LINES)]
        mark, style = ("✗ ", "red") if outcome.is_error else ("✓ ", "green")
        end = _lead(by, f"  {mark}", style).append(safe(summary(outcome, display)))
        self.screen.print(*card, end.append(f"  {outcome.ms:.0f} ms" if outcome.ran else "", "dim"))

    def waiting_for(self, what: str | None, seconds: float) -> None:
        """The status line."""
        self._frame += 1
        spinner = _SPINNER[self._frame % len(_SPINNER)]
        self.screen.status = "" if what is None else f"{spinner} {safe(what)}, {seconds:.0f} s{self._beside}"
        self.screen.redraw()

    def turn_ended(self, end: TurnEnd) -> None:
        """Close what is open; say that it was interrupted."""
        self._finish_text()
        super().turn_ended(end)
        if end.status == "interrupted":
            self.screen.print(Text("interrupted", "yellow"))

    def problem(self, line: str) -> None:
        """Above the changing lines where `err` is this terminal."""
        if self._err.terminal:
            self.screen.print(Text(safe(line), "yellow"))
        else:
            self._err.write(safe(line) + "\n")

    def told(self, session: str, command: str, result: dict[str, Any]) -> None:
        """What a command came to."""
        super().told(session, command, result)
        # Only a chat lays out tables.
        from treblehook.cli.output.tables import told

        self.screen.print(*(Text(safe(line)) for line in told(command, result)))

    def typed(self, line: str) -> None:
        """What the user has sent."""
        self.screen.print(Text("> ", "bold").append(safe(line)))

    def typing(self, before: str, after: str) -> None:
        """What the user is typing, around the cursor."""
        self.screen.input("> " + safe(before).replace("\n", "⏎"), safe(after).replace("\n", "⏎"))

    def misunderstood(self, session: str, message: str) -> None:
        """Input that could not be taken."""
        self.problem(message)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Draw nothing below what is printed."""
        self._finish_text()
        with super().paused():
            self.screen.hold()
            try:
                yield
            finally:
                self.screen.release()

    def close(self) -> None:
        """Leave a clean line."""
        super().close()
        self.screen.close()

    def _quiet(self) -> None:
        """No tool says anything any more."""
        self._live.clear()
        self.screen.card, self._beside = [], ""

    def _finish_text(self, by: str = "") -> None:
        """What is shown next is about something else; a subagent's doings do not break the text in two."""
        if not by:
            self._said = False
            self.screen.end_stream()


def _lead(by: str, mark: str, style: str) -> Text:
    return Text(f"[{by}] " if by else "", "dim").append(mark, style)
