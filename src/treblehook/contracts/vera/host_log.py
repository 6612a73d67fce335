"""`<home>/runtime/logs/host.jsonl`: one line for each failure that changes nothing else, of hooks and of whole extensions (vera.md
3.3, 3.10, 5.3)."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from treblehook.contracts.vera.json_text import encoded
from treblehook.contracts.vera.phases import PHASE_OF_EVENT
from treblehook.engine import Call, Ended, Tier
from treblehook.engine.journal import Watcher
from treblehook.lifecycle import SessionStart

_FAILURES: Final = (Ended.NOT_STARTED, Ended.FAILED, Ended.TIMED_OUT)


class HostLog(Watcher):
    """Appends to the log of `home` what a journal tells of failed session starts and observers.

    The folder gets mode 0700 and the file 0600. Where a line cannot be written, `report` is told why and the agent goes on.
    """

    def __init__(
        self, home: str | os.PathLike[str], report: Callable[[str], None], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.path = Path(home) / "runtime" / "logs" / "host.jsonl"
        self._report = report
        self._now = now

    def finished(self, calls: Sequence[Call]) -> None:
        """Log those of `calls` that failed."""
        for call in calls:
            if call.ended in _FAILURES and call.handler.origin.contract in ("vera", "claude"):
                record = _record(call)
                if record is not None:
                    self._append(record)

    def extension_failed(self, extension: str, message: str) -> None:
        """Log that an extension did not load (vera.md 5.3)."""
        self._append({"type": "host_startup_extension_failed", "level": "warn", "extension_id": extension, "message": message})

    def extension_ended(self, extension: str, message: str) -> None:
        """Log that an extension, which had loaded, has ended."""
        self._append({"type": "extension_ended", "level": "warn", "extensionId": extension, "message": message})

    def node_died(self, message: str) -> None:
        """Log that the process of the JavaScript extensions has died."""
        self._append({"type": "extension_process_died", "level": "warn", "message": message})

    def _append(self, record: dict[str, Any]) -> None:
        moment = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = encoded({"timestamp": moment, **record}) + b"\n"
        try:
            self.path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(descriptor, "ab", buffering=0) as file:
                file.write(line)
        except OSError as error:
            self._report(f"{self.path}: a failed hook could not be logged: {error.strerror}")


def _record(call: Call) -> dict[str, Any] | None:
    """The line for a failed call; None where the failure shows elsewhere."""
    phase = PHASE_OF_EVENT.get(type(call.event))
    if phase is None:
        return None
    head = {"type": f"{phase.name}_hook_failed", "level": "warn"}
    extension = {"extensionId": call.handler.name} if call.handler.tier is Tier.EXTENSION else {}
    if isinstance(call.event, SessionStart):
        told = {"sessionId": call.event.session, "reason": call.event.reason, "index": call.position, "error": call.error}
        return {**head, **told, **extension}
    return {**head, "message": call.error, **(extension or {"command": call.handler.name})} if phase.observes else None
