"""The path of a tool call with stub tools, and hooks at every row that note the order."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.hooks import stub
from treblehook.engine import Background, Dispatcher, Handler, Journal, Registry, Tier
from treblehook.host.calls import CallOutcome, CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolContext, ToolOutput, ToolSpec
from treblehook.lifecycle import (
    BeforeExecute,
    Decision,
    Display,
    Event,
    PermissionRequest,
    PreparedCall,
    PreToolCall,
    ShellGate,
    ShellOutcome,
    ShellRan,
    ToolCall,
    ToolFinished,
    ToolGate,
    ToolProposed,
    ToolRan,
    ToolShown,
    ToolStarted,
)
from treblehook.lifecycle.tool_events import ToolEvent

ROWS: tuple[type[ToolEvent], ...] = (
    ToolProposed,
    PreToolCall,
    PermissionRequest,
    ToolStarted,
    BeforeExecute,
    ToolGate,
    ShellGate,
    ToolFinished,
    ToolRan,
    ShellRan,
    ToolShown,
)
Given = Decision | BaseException | Callable[[Any], Any] | None
Work = Callable[[dict[str, Any], ToolContext], Awaitable[ToolOutput]]


class PlainTool:
    """The tool `dig`: does what `work` does, or answers its input."""

    spec = ToolSpec("dig", "Digs.", {"type": "object"}, main_argument="place")

    def __init__(self, rig: "CallRig") -> None:
        self._rig = rig
        self.work: Work | None = None

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        self._rig.log.append("runs")
        self._rig.contexts.append(context)
        return ToolOutput(f"dug {arguments}") if self.work is None else await self.work(arguments, context)


class CommandTool:
    """The tool `shell`: prepares its command, and keeps the very values that it was given to run."""

    spec = ToolSpec("shell", "Runs.", {"type": "object"}, main_argument="command")

    def __init__(self, rig: "CallRig") -> None:
        self._rig = rig
        self.prepared: list[PreparedCall] = []
        self.ran: list[PreparedCall] = []
        self.fails: Exception | None = None

    def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        if self.fails is not None:
            raise self.fails
        command = arguments["command"]
        self.prepared.append(PreparedCall("shell", command, "/bin/sh", ("-c", command), script=command))
        return self.prepared[-1]

    async def run_prepared(self, prepared: PreparedCall, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        self._rig.log.append("runs")
        self._rig.contexts.append(context)
        self.ran.append(prepared)
        return ToolOutput("out and err", shell=ShellOutcome(0, "out", "err", 5))


class CallRig:
    """Takes calls. `log` is everything that happened in order: rows by their names, "approves", "announces", "runs", "tells".

    `verdict_of` is what the rules say, `approves` what the user says; without it, yes. `announced` and `told` are what an observer
    was told of calls that started and that ended.
    """

    def __init__(self, results: Path) -> None:
        self.log: list[str] = []
        self.events: list[ToolEvent] = []
        self.contexts: list[ToolContext] = []
        self.announced: list[tuple[ToolCall, dict[str, Any], Display | None]] = []
        self.told: list[tuple[CallOutcome, Display | None]] = []
        self.said: list[str] = []
        self.asked: list[ToolCall] = []
        self.verdict_of: Callable[[ToolCall], Verdict] = lambda call: Verdict("allow")
        self.approves: Callable[[ToolCall], Awaitable[bool]] | None = None
        self.registry = Registry()
        self.background = Background()
        self.dig = PlainTool(self)
        self.shell = CommandTool(self)
        for event in ROWS:
            self.registry.add(stub(event, self._note, name="note", tier=Tier.CONFIG))
        dispatcher = Dispatcher(self.registry, background=self.background, journal=Journal())
        tools: Mapping[str, Any] = {"dig": self.dig, "shell": self.shell}
        self.path = CallPath(dispatcher, SessionFacts("s1", "/ws"), tools, self, self, results)

    def _note(self, event: ToolEvent) -> None:
        self.log.append(type(event).__name__)
        self.events.append(event)

    def on(self, event: type[Event], given: Given, **options: Any) -> Handler:
        """Bind a hook behind the one that notes."""
        return self.registry.add(stub(event, given, **{"tier": Tier.PYTHON, **options}))

    async def take(self, name: str, *, offered: frozenset[str] = frozenset({"dig", "shell"}), **arguments: Any) -> CallOutcome:
        """Take one call through its rows."""
        proposal = await self.path.propose(ToolCall("c1", name, arguments), offered)
        return await self.path.run(proposal)

    def event(self, kind: type[Event]) -> Any:
        """The one event of that kind."""
        (found,) = [event for event in self.events if type(event) is kind]
        return found

    # Permission

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        return self.verdict_of(call)

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        self.log.append("approves")
        self.asked.append(call)
        return True if self.approves is None else await self.approves(call)

    # CallObserver

    def started(self, call: ToolCall, asked: dict[str, Any], display: Display | None, *, for_hook: bool = False) -> None:
        self.log.append("announces")
        self.announced.append((call, asked, display))

    def progress(self, call: ToolCall, text: str) -> None:
        self.said.append(text)

    def ended(self, outcome: CallOutcome, display: Display | None) -> None:
        self.log.append("tells")
        self.told.append((outcome, display))
