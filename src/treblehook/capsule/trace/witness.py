"""What happens in a session, as lines of its trace: each before or after the hooks have been told (murmur.md 4.2, 8.3)."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.trace.faults import Faults
from treblehook.capsule.trace.file import TraceFile
from treblehook.capsule.trace.totals import Totals
from treblehook.engine import Outcome
from treblehook.home.components.desk import TaskDesk
from treblehook.home.components.inference import HookInference
from treblehook.home.components.record import ConversationRecord
from treblehook.lifecycle import (
    Event,
    ModelRequest,
    ModelResponse,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellRan,
    TaskEnd,
    TaskStart,
    ToolGate,
    ToolRan,
)

E = TypeVar("E", bound=Event)


class Witness:
    """Writes the trace of one launch, and keeps desk and record up to date. Raises `TranscriptFailed` where a line that must be there
    cannot be written: the session fails rather than going on unaudited.

    `totals` are the launch's, `turn` is the number of the turn under way, `attempt_ended` is how the newest attempt at the task under way
    ended, "failed" while none has.
    """

    def __init__(
        self,
        trace: TraceFile,
        manifest: CapsuleManifest,
        desk: TaskDesk,
        record: ConversationRecord,
        inference: HookInference,
        faults: Faults,
        tools: Callable[[], list[str]],
    ) -> None:
        self.totals = Totals()
        self.attempt_ended = "failed"
        self.turn = 0
        self.faults = faults
        self._trace = trace
        self._manifest = manifest
        self._desk = desk
        self._record = record
        self._inference = inference
        self._tools = tools
        self._began = time.monotonic()
        self._before_task = Totals()
        self._task_began = 0.0

    # Before the hooks are told

    def before(self, event: Event) -> None:
        """Write what stands in front of `event`."""
        self._record.look()
        match event:
            case SessionStart(reason="start"):
                self._session_start(event)
            case TaskStart():
                self._task_start(event)
            case ModelRequest():
                self._trace.turn = None
            case ModelResponse():
                self.turn = event.turn
            case TaskEnd():
                self.attempt_ended = event.exit_status
                self._desk.finished()

    def _session_start(self, event: SessionStart) -> None:
        manifest = self._manifest
        self._trace.session = self._trace.write(
            "session_start",
            None,
            capsule_name=manifest.name,
            capsule_version=manifest.version,
            model=event.model,
            max_turns=manifest.inference.max_turns,
            capabilities=list(manifest.capabilities),
            tools_declared=self._tools(),
        )

    def _task_start(self, event: TaskStart) -> None:
        self._before_task = replace(self.totals)
        self.attempt_ended = "failed"
        self._task_began = time.monotonic()
        self._trace.turn = None
        self._trace.task = self._trace.write(
            "task_start",
            self._trace.session,
            task_id=event.task,
            context_id=event.context,
            source=event.source,
            message_parts_bytes=event.input_bytes,
        )

    def counted(self, event: E) -> E:
        """`event`, an end of the session with the numbers of the contract: what was observed, and the host's own counts."""
        if not isinstance(event, SessionEnd):
            return event
        totals = self.totals
        return replace(
            event,
            requests=totals.turns,
            tool_calls=totals.tool_calls,
            shell_calls=totals.shell_calls,
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            duration_ms=self._since(self._began),
        )

    # After the hooks have been told

    def after(self, event: Event, outcome: Outcome[Any]) -> None:
        """Write what stands behind `event`."""
        self._write_inferences()
        match event:
            case TaskStart():
                self._desk.begun()
            case ModelResponse():
                self._inference_line(event)
            case ShellGate() | ToolGate() if outcome.blocked is not None:
                self._denied(event, outcome)
            case ToolRan():
                self._tool_call(event)
            case ShellRan():
                self._shell(event)
            case TaskEnd():
                self.faults.flush(self._trace)

    def _write_inferences(self) -> None:
        """What hooks asked the model, before the line of the event at which they did."""
        for done in self._inference.take():
            self._trace.write(
                "inference",
                self._trace.nearest,
                turn=self.turn,
                task_id=self._desk.task_id,
                input_tokens=done.input_tokens,
                output_tokens=done.output_tokens,
                decision=done.decision,
                origin=f"hook:{done.hook}",
                model=done.model,
            )

    def _inference_line(self, event: ModelResponse) -> None:
        totals = self.totals
        totals.turns += 1
        totals.input_tokens += event.input_tokens
        totals.output_tokens += event.output_tokens
        self._desk.said(event.text, final=event.tool is None)
        self._trace.turn = self._trace.write(
            "inference",
            self._trace.task or self._trace.session,
            turn=event.turn,
            task_id=self._desk.task_id,
            input_tokens=event.input_tokens,
            output_tokens=event.output_tokens,
            decision=event.decision,
            tool_name=event.tool,
            duration_ms=event.duration_ms,
        )

    def _denied(self, event: ShellGate | ToolGate, outcome: Outcome[Any]) -> None:
        by, blocked = outcome.by, outcome.blocked
        assert by is not None, "somebody refused"
        assert blocked is not None, "it was asked whether one did"
        self._trace.write(
            "call_denied",
            self._trace.nearest,
            turn=event.turn,
            event=by.origin.event,
            hook_name=by.name,
            target=event.prepared.executable if isinstance(event, ShellGate) else event.call.name,
            reason=blocked.reason,
        )
        self.faults.flush(self._trace)

    def _tool_call(self, event: ToolRan) -> None:
        self.totals.tool_calls += 1
        self._trace.write(
            "tool_call",
            self._trace.nearest,
            turn=event.turn,
            task_id=self._desk.task_id,
            tool_name=event.call.name,
            tool_call_id=event.call.id,
            input=event.call.input,
            input_bytes=len(msgspec.json.encode(event.call.input)),
            output=event.content if self._manifest.capture == "content" else None,
            output_bytes=_size(event.content),
            duration_ms=event.duration_ms,
            status="error" if event.is_error else "ok",
        )

    def _shell(self, event: ShellRan) -> None:
        self.totals.shell_calls += 1
        self._trace.write(
            "shell",
            self._trace.nearest,
            turn=event.turn,
            task_id=self._desk.task_id,
            binary=event.prepared.executable,
            command=event.prepared.command,
            exit_code=event.outcome.exit_code,
            stdout_bytes=_size(event.outcome.stdout),
            stderr_bytes=_size(event.outcome.stderr),
            duration_ms=event.outcome.duration_ms,
        )

    # Called by the launch

    def task_over(self, task_id: str, exit_status: str, reopens: int) -> str:
        """The task under way is over; answers why that could not be traced, "" where it could."""
        self.faults.flush(self._trace)
        if self._trace.task is None:
            # A hook blocked it before it began.
            return ""
        spent = self.totals.less(self._before_task)
        problem = self._trace.try_write(
            "task_end",
            self._trace.task,
            task_id=task_id,
            exit_status=exit_status,
            duration_ms=self._since(self._task_began),
            turns=spent.turns,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            tool_calls=spent.tool_calls,
            shell_calls=spent.shell_calls,
            reopen_count=reopens,
        )
        self._trace.task = self._trace.turn = None
        return problem

    def session_over(self, exit_status: str) -> None:
        """Everything is over."""
        self._write_inferences()
        self.faults.flush(self._trace)
        totals = self.totals
        self._trace.write(
            "session_end",
            self._trace.session,
            total_turns=totals.turns,
            total_input_tokens=totals.input_tokens,
            total_output_tokens=totals.output_tokens,
            total_tool_calls=totals.tool_calls,
            total_shell_calls=totals.shell_calls,
            duration_ms=self._since(self._began),
            exit_status=exit_status,
        )

    def _since(self, moment: float) -> int:
        return round((time.monotonic() - moment) * 1000)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
