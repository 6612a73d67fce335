"""The components of one session: an instance of each hook, its handlers, and where their faults are written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treblehook.agent.conversation import Conversation
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
from treblehook.home.components.staged import Staged
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.lifecycle import Event, ModelResponse, PromptSubmitted, TaskEnd, TaskStart

_NAME, _VERSION = "treblehook", "0"
"""What a hook is told of the capsule that there is none of."""


class SessionComponents:
    """Those of the session whose own folder is `folder` and that works in `workspace`. `open` them before the session is announced."""

    def __init__(self, staged: Staged, home: Path, session: str, workspace: Path, environ: Mapping[str, str]) -> None:
        self._desk = TaskDesk()
        self._record = ConversationRecord(on=True)
        self._inference = HookInference()
        folder = home / "sessions" / session
        self._sink = SessionSink(folder, session)
        launch = Launch(
            LaunchFacts(_NAME, _VERSION, ("filesystem", "shell")),
            session_workdir=folder,
            accessible_workdir=workspace,
            state=home / "state",
            environment=environ,
        )
        services = MurmurServices(self._inference, self._desk, self._record, staged.tokens)
        self._hooks = MurmurHooks(staged.hooks, staged.runtime, launch, services, self._sink)

    def bind(self, registry: Registry, modes: Mapping[str, Mode]) -> None:
        """Bind them behind everybody else. Raises `BindError` for a policy that is not on."""
        for handler in self._hooks.handlers(modes):
            registry.add(handler)

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """For the session's journal."""
        return (self._hooks.watcher, self._sink)

    async def open(self, config: Path) -> None:
        """Start the instances. Raises `ConfigInvalid`, with the file in which they are listed: a policy that is missing would fail open."""
        try:
            await self._hooks.open()
        except StagingFailed as failed:
            raise ConfigInvalid([Problem(str(config), "artifacts", str(failed))]) from failed

    def dispatcher(self, registry: Registry, **parts: Any) -> Dispatcher:
        """The session's dispatcher, which keeps what hooks may ask for up to date."""
        return _Keeping(self._desk, registry, **parts)

    def follow(self, state: SessionState) -> None:
        """Answer hooks from this session."""
        self._inference.follow(state)
        conversation: Conversation = state.conversation
        self._record.follow(conversation)

    async def close(self, gave_up: list[GaveUp]) -> None:
        """Tell what was left undone, and end the instances."""
        self._hooks.drained(gave_up)
        await self._hooks.close()


class _Keeping(Dispatcher):
    """A turn is a task: what it was asked, and what came of it, is on the desk while it is under way."""

    def __init__(self, desk: TaskDesk, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._desk = desk
        self._prompts: list[str] = []

    def reaches(self, event: Event) -> bool:
        """True for what the desk needs to know."""
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
