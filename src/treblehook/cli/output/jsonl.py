"""The records of a session as JSON lines (design, section 6)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from treblehook.agent.records import Record, stamped
from treblehook.agent.transcript.records import encode_record
from treblehook.cli.output.output import Output
from treblehook.cli.output.stream import Stream


class JsonLines(Output):
    """One record per line on `out`, flushed per line; problems are lines of text on `err`.

    A chat adds two types of its own: `command` (`command`, `result`) and `error` (`message`).
    """

    def __init__(self, out: Stream, err: Stream, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._out = out
        self._err = err
        self._now = now

    def record(self, record: Record) -> None:
        """Write a record."""
        self._out.write(encode_record(record).decode())

    def problem(self, line: str) -> None:
        """Write a line to `err`."""
        self._err.write(line + "\n")

    def told(self, session: str, command: str, result: dict[str, Any]) -> None:
        """Write a `command` record."""
        self.record(stamped("command", session, self._now(), command=command, result=result))

    def misunderstood(self, session: str, message: str) -> None:
        """Write an `error` record."""
        self.record(stamped("error", session, self._now(), message=message))
