"""The components of one session: an instance of each hook, its handlers, and what they may ask for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treblehook.agent.state import SessionState
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.contracts.murmur.hooks import MurmurHooks
from treblehook.contracts.murmur.launch import Launch
from treblehook.contracts.murmur.payloads import LaunchFacts
from treblehook.contracts.murmur.services import MurmurServices
from treblehook.engine import Dispatcher, GaveUp, Mode, Outcome, Registry, Watcher
from treblehook.home.components.desk import TaskDesk
from treblehook.home.components.inference import HookInference
from treblehook.home.components.record import ConversationRecord
from treblehook.home.components.sink import SessionSink
from treblehook.home.components.spans import send_all_spans
from treblehook.home.components.staged import Staged
from treblehook.home.profile import Surroundings
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.lifecycle import ModelResponse, PromptSubmitted, ShellGate, ShellRan, TaskEnd, TaskStart, ToolGate, ToolRan

_IN_SUBAGENTS = frozenset((ModelResponse, ToolGate, ShellGate, ToolRan, ShellRan))
_NAME, _VERSION, _CAPABILITIES = "treblehook", "0", ("filesystem", "shell")
"""What a hook is told of the capsule that an ordinary session is not."""


class SessionComponents:
    """Those of one session, in what a capsule says its hooks are surrounded by, or (None) in an ordinary session's own surroundings."""

    def __init__(
        self, staged: Staged, home: Path, session: str, workspace: Path, environ: Mapping[str, str], surroundings: Surroundings | None
    ) -> None:
        self._desk = TaskDesk()
        self._record = ConversationRecord(on=True)
        self._inference = HookInference()
        self._sinks: tuple[Watcher, ...] = ()
        if surroundings is None:
            sink = SessionSink(home / "sessions" / session, session)
            self._sinks = (sink,)
            services = MurmurServices(self._inference, self._desk, self._record, staged.tokens)
            surroundings = Surroundings(_launch(home, session, workspace, environ), services, sink)
        self._staged, self._surroundings = staged, surroundings
        self._hooks = MurmurHooks(staged.hooks, staged.runtime, surroundings.launch, surroundings.services, surroundings.sink)

    def bind(self, registry: Registry, modes: Mapping[str, Mode], *, spawned: bool = False) -> None:
        """Bind them behind everybody else; in a subagent where they reach it (design, section 3). Raises `BindError` for a policy that
        is not on."""
        for handler in self._hooks.handlers(modes):
            if not spawned or handler.event in _IN_SUBAGENTS:
                registry.add(handler)

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """For the session's journal."""
        return (self._hooks.watcher, *self._sinks)

    async def open(self, config: Path) -> None:
        """Start the instances. Raises `ConfigInvalid`, with the file in which they are listed: a policy that is missing would fail open."""
        try:
            await self._hooks.open()
        except StagingFailed as failed:
            raise ConfigInvalid([Problem(str(config), "artifacts", str(failed))]) from failed

    def dispatcher(self, registry: Registry, **parts: Any) -> Dispatcher:
        """An ordinary session's dispatcher, which keeps what hooks may ask for up to date."""
        return _Keeping(self._desk, registry, **parts)

    def follow(self, state: SessionState) -> None:
        """Answer hooks from this session."""
        self._inference.follow(state)
        self._record.follow(state.conversation)

    async def close(self, gave_up: Sequence[GaveUp]) -> None:
        """Tell what was left undone, and end the instances."""
        self._hooks.drained(gave_up)
        await self._hooks.close()
        await send_all_spans(self._staged.hooks, self._surroundings.launch, self._surroundings.sink)


def _launch(home: Path, session: str, workspace: Path, environ: Mapping[str, str]) -> Launch:
    return Launch(
        LaunchFacts(_NAME, _VERSION, _CAPABILITIES),
        session_workdir=home / "sessions" / session,
        accessible_workdir=workspace,
        state=home / "state",
        environment=environ,
    )


class _Keeping(Dispatcher):
    """A turn is a task: what it was asked, and what came of it, is on the desk while it is under way."""

    def __init__(self, desk: TaskDesk, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._desk = desk
        self._prompts: list[str] = []

    def reaches(self, event: Any) -> bool:
        """True for what the desk needs to know, too."""
        return isinstance(event, PromptSubmitted | TaskStart | ModelResponse | TaskEnd) or super().reaches(event)

    async def fire(self, event: Any) -> Outcome[Any]:
        """Ask the handlers of `event`; the desk knows of it before them, but of a start after them (murmur.md 3.7)."""
        match event:
            case PromptSubmitted():
                self._prompts.append(event.prompt)
            case ModelResponse():
                self._desk.said(event.text, final=event.tool is None)
            case TaskEnd():
                self._desk.finished()
        outcome = await super().fire(event)
        match event:
            case TaskStart():
                self._desk.put(event.task, "\n\n".join(self._prompts))
                self._prompts.clear()
                self._desk.begun()
            case TaskEnd():
                self._desk.clear()
        return outcome
