"""Where the faults and refusals of a session's components are written: `sessions/ID/logs/` and `sessions/ID/trace.jsonl`."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from treblehook.agent.transcript import TranscriptFailed
from treblehook.agent.transcript.ids import new_id
from treblehook.contracts.murmur.faults import FaultSink, HookLogs
from treblehook.contracts.murmur.hooks import CONTRACT
from treblehook.engine import Call, Watcher
from treblehook.host.private import make_private_folder
from treblehook.lifecycle import Refuse, ShellGate, ToolGate


class SessionSink(FaultSink, Watcher):
    """Of one session, whose own folder is `folder`; `clock` gives seconds since 1970. Lines have the form of murmur.md 8.3.

    A refusal that cannot be written ends the turn with `TranscriptFailed`: nobody would know of it.
    """

    def __init__(self, folder: Path, session: str, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._session = session
        self._clock = clock
        self._logs = HookLogs(folder / "logs")

    def log(self, hook: str, message: str) -> None:
        """A line in the hook's log."""
        self._logs.write(hook, message)

    def fault(self, hook: str, event: str, arm: str) -> None:
        """A line in the trace; where that cannot be written, one in the hook's log."""
        try:
            self._write("hook_dispatch_error", hook_name=hook, event=event, arm=arm)
        except TranscriptFailed as failed:
            self.log(hook, f"{arm} at {event} could not be traced: {failed}")

    def finished(self, calls: Sequence[Call]) -> None:
        """Write the refusals among `calls`."""
        for call in calls:
            event, decision = call.event, call.decision
            if call.handler.origin.contract == CONTRACT and isinstance(event, ShellGate | ToolGate) and isinstance(decision, Refuse):
                self._write(
                    "call_denied",
                    turn=event.turn,
                    event=call.handler.origin.event,
                    hook_name=call.handler.name,
                    target=event.prepared.executable if isinstance(event, ShellGate) else event.call.name,
                    reason=decision.reason,
                )

    def _write(self, event_type: str, **fields: Any) -> None:
        line = {
            "event_type": event_type,
            "event_id": new_id("evt"),
            "parent_id": None,
            "session_id": self._session,
            "timestamp": int(self._clock() * 1000),
            **fields,
        }
        path = self._folder / "trace.jsonl"
        try:
            make_private_folder(self._folder)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(descriptor, "ab", buffering=0) as file:
                file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            raise TranscriptFailed(path, error.strerror or str(error)) from error
