"""Our events as the records of the contract's functions (murmur.md 3.3, 3.5)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.messages import outward
from treblehook.lifecycle import (
    ContextFull,
    Event,
    ModelResponse,
    PreparedCall,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellRan,
    Stage,
    TaskEnd,
    TaskStart,
    ToolGate,
    ToolRan,
)

SHOWN_CHARACTERS: Final = 200
"""Of a command, on both dispatches; nobody decides on it."""

Record = dict[str, Any]


class LaunchFacts(Struct, frozen=True):
    """What is the same for every event of a launch. `capabilities` are the categories that are granted anything; a compaction hook is
    given `compaction_model` and `compaction_prompt` as the operator set them."""

    capsule_name: str
    capsule_version: str
    capabilities: Sequence[str] = ()
    compaction_model: str | None = None
    compaction_prompt: str | None = None


def _stage(event: Stage, facts: LaunchFacts) -> Record:
    return {"shell-allow": list(event.shell_allow)}


def _session_start(event: SessionStart, facts: LaunchFacts) -> Record:
    return {
        "capsule-name": facts.capsule_name,
        "capsule-version": facts.capsule_version,
        "session-id": event.session,
        "model": event.model,
        "capabilities": list(facts.capabilities),
    }


def _task_start(event: TaskStart, facts: LaunchFacts) -> Record:
    return {
        "task-id": event.task,
        "context-id": event.context,
        "source": event.source,
        "input-bytes": event.input_bytes,
        "budget-tokens": event.budget_tokens,
        "context-window": event.context_window,
        "prior-tokens": event.prior_tokens,
    }


def _inference(event: ModelResponse, facts: LaunchFacts) -> Record:
    return {
        "turn": event.turn,
        "input-tokens": event.input_tokens,
        "output-tokens": event.output_tokens,
        "decision": event.decision,
        "tool-name": event.tool,
        "prompt": event.prompt,
        "output": event.output,
        "tools": event.tools,
    }


def _tool(event: ToolGate | ToolRan, facts: LaunchFacts) -> Record:
    given = event.input_json if isinstance(event, ToolGate) else msgspec.json.encode(event.call.input).decode()
    outcome = None
    if isinstance(event, ToolRan):
        status = "error" if event.is_error else "ok"
        outcome = {"output-bytes": _size(event.content), "duration-ms": event.duration_ms, "status": status}
    return {"turn": event.turn, "tool-name": event.call.name, "input-bytes": _size(given), "input": given, "outcome": outcome}


def _shell(event: ShellGate | ShellRan, facts: LaunchFacts) -> Record:
    return {**_command(event.prepared), "turn": event.turn, "outcome": _shell_outcome(event) if isinstance(event, ShellRan) else None}


def _command(prepared: PreparedCall) -> Record:
    return {
        "binary": prepared.executable,
        "command": prepared.command[:SHOWN_CHARACTERS],
        "argv": list(prepared.argv),
        "script": prepared.script,
        "recipe": prepared.recipe,
    }


def _shell_outcome(event: ShellRan) -> Record:
    outcome = event.outcome
    return {
        "exit-code": outcome.exit_code,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
        "stdout-bytes": _size(outcome.stdout),
        "stderr-bytes": _size(outcome.stderr),
        "duration-ms": outcome.duration_ms,
    }


def _compaction(event: ContextFull, facts: LaunchFacts) -> Record:
    return {
        "messages": outward(event.messages),
        "session-tokens": event.tokens,
        # The ratio that was measured, not the threshold that was set.
        "threshold": event.ratio,
        "model": facts.compaction_model,
        "system-prompt": facts.compaction_prompt,
    }


def _task_end(event: TaskEnd, facts: LaunchFacts) -> Record:
    return {"task-id": event.task, "exit-status": event.exit_status}


def _session_end(event: SessionEnd, facts: LaunchFacts) -> Record:
    return {
        "total-turns": event.requests,
        "total-input-tokens": event.input_tokens,
        "total-output-tokens": event.output_tokens,
        "total-tool-calls": event.tool_calls,
        "total-shell-calls": event.shell_calls,
        "duration-ms": event.duration_ms,
        "exit-status": event.exit_status,
    }


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Point(Struct, frozen=True):
    """One of the nine functions. `observed` is the event after which it is called, `asked` the one before which policies are."""

    binding: Binding
    observed: type[Event]
    record: Callable[[Any, LaunchFacts], Record]
    asked: type[Event] | None = None


POINTS: Final[Mapping[Binding, Point]] = {
    point.binding: point
    for point in (
        Point(Binding.STAGE, Stage, _stage),
        Point(Binding.SESSION_START, SessionStart, _session_start),
        Point(Binding.TASK_START, TaskStart, _task_start),
        Point(Binding.INFERENCE, ModelResponse, _inference),
        Point(Binding.TOOL_CALL, ToolRan, _tool, ToolGate),
        Point(Binding.SHELL, ShellRan, _shell, ShellGate),
        Point(Binding.COMPACTION, ContextFull, _compaction),
        Point(Binding.TASK_END, TaskEnd, _task_end),
        Point(Binding.SESSION_END, SessionEnd, _session_end),
    )
}
