"""`trace.jsonl` as it is written: one line each, and each hangs off an earlier one (murmur.md 8.3)."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from treblehook.agent.transcript import Transcript, TranscriptFailed
from treblehook.agent.transcript.ids import new_id


class TraceFile:
    """An open trace. `session`, `task` and `turn` are the ids of the lines that are under way; None before and after.

    `clock` gives seconds since 1970. A line that was written survives the death of this process. `write` raises `TranscriptFailed`.
    """

    def __init__(self, path: Path, session_id: str, clock: Callable[[], float] = time.time) -> None:
        self._file = Transcript.create(path)
        self._session_id = session_id
        self._clock = clock
        self.session: str | None = None
        self.task: str | None = None
        self.turn: str | None = None

    @property
    def nearest(self) -> str | None:
        """What a line of this moment hangs off: the turn, else the task, else the session."""
        return self.turn or self.task or self.session

    def write(self, event_type: str, parent: str | None, /, **fields: Any) -> str:
        """Write a line; fields that are None are left out. Answers its id."""
        event_id = new_id("evt")
        line = {
            "event_type": event_type,
            "event_id": event_id,
            "parent_id": parent,
            "session_id": self._session_id,
            "timestamp": int(self._clock() * 1000),
        }
        self._file.append(line | {name: value for name, value in fields.items() if value is not None})
        return event_id

    def try_write(self, event_type: str, parent: str | None, /, **fields: Any) -> str:
        """Write a line without which a session may go on (murmur.md 8.3). Answers why it could not be, "" where it could."""
        try:
            self.write(event_type, parent, **fields)
        except TranscriptFailed as failure:
            return str(failure)
        return ""

    def close(self) -> None:
        """Nothing more is written. Raises `TranscriptFailed`."""
        self._file.close()
