"""One launch of murmur hooks on a real dispatcher: real components, real files, stand-ins only for what the host serves."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests.support.processes import until
from treblehook.contracts.murmur.artifact import Artifact
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.hooks import MurmurHooks
from treblehook.contracts.murmur.launch import HookLimits, Launch
from treblehook.contracts.murmur.payloads import LaunchFacts
from treblehook.contracts.murmur.services import (
    Completion,
    ConversationUnavailable,
    Inference,
    InferenceFailed,
    InferenceRequest,
    MurmurServices,
    TaskText,
)
from treblehook.contracts.murmur.staging import HookEntry, stage_hooks
from treblehook.engine import Background, Dispatcher, GaveUp, Journal, Mode, Outcome, Registry
from treblehook.host.tokens import TokenCounter
from treblehook.lifecycle import (
    ContextFull,
    Event,
    Message,
    ModelResponse,
    PreparedCall,
    SessionEnd,
    SessionStart,
    ShellGate,
    ShellOutcome,
    ShellRan,
    Stage,
    TaskEnd,
    TaskStart,
    ToolCall,
    ToolGate,
    ToolRan,
)
from treblehook.runtimes.wasm import WasmRuntime

E = TypeVar("E", bound=Event)

CALL = ToolCall("c1", "dig", {"place": "x"})
SHELL_CALL = ToolCall("c2", "bash", {"command": "rm x"})
PREPARED = PreparedCall("bash", "rm x", "/usr/bin/bash", ("-c", "rm x"), script="rm x")
STAGE = Stage(shell_allow=("bash", "rg"))
START = SessionStart(session="ses_1", model="acme/first")
TASK = TaskStart(task="tsk_1", context="ctx_1", input_bytes=5, budget_tokens=100, context_window=1000)
RESPONSE = ModelResponse(turn=0, text="t", output='[{"type":"text","text":"t"}]')
RAN = ToolRan(call=CALL, content="done", duration_ms=3)
SHELL_RAN = ShellRan(call=SHELL_CALL, prepared=PREPARED, outcome=ShellOutcome(0, "out", "err", 3))
FULL = ContextFull(messages=(Message("user", "u"), Message("assistant", "a")), tokens=991, ratio=0.991)
TASK_END = TaskEnd(task="tsk_1", exit_status="ok")
END = SessionEnd(reason="closed", requests=2)
TOOL_GATE = ToolGate(call=CALL, input_json='{"place":"x"}')
SHELL_GATE = ShellGate(call=SHELL_CALL, prepared=PREPARED)
OBSERVED: dict[str, Event] = {
    "on-session-start": START,
    "on-task-start": TASK,
    "on-inference": RESPONSE,
    "on-tool-call": RAN,
    "on-shell": SHELL_RAN,
    "on-compaction": FULL,
    "on-task-end": TASK_END,
    "on-session-end": END,
}
GATES: dict[str, Event] = {"on-shell": SHELL_GATE, "on-tool-call": TOOL_GATE}


class Sink:
    """What hooks did wrong."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.faults: list[tuple[str, str, str]] = []

    def log(self, hook: str, message: str) -> None:
        self.lines.append((hook, message))

    def fault(self, hook: str, event: str, arm: str) -> None:
        self.faults.append((hook, event, arm))

    def of(self, hook: str) -> list[str]:
        """The lines in the log of `hook`."""
        return [message for name, message in self.lines if name == hook]


class Host:
    """What a launch serves; a test sets what there is."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, InferenceRequest]] = []
        self.reply: Completion | InferenceFailed = Completion("a summary", "acme/first", 7, 3)
        self.text: TaskText | None = None
        self.said: Sequence[Message] | ConversationUnavailable = ()

    async def complete(self, hook: str, request: InferenceRequest) -> Completion:
        self.requests.append((hook, request))
        if isinstance(self.reply, InferenceFailed):
            raise self.reply
        return self.reply

    def current(self) -> TaskText | None:
        return self.text

    async def messages(self) -> Sequence[Message]:
        if isinstance(self.said, ConversationUnavailable):
            raise self.said
        return self.said


class Stall:
    """A host function in which a guest stays until it is released: `tokens.count`, on the guest's own thread."""

    def __init__(self, rig: "MurmurRig") -> None:
        self._entered = threading.Event()
        self.release = threading.Event()
        rig.tokens = TokenCounter("stalls", self._count)

    async def entered(self) -> None:
        """Wait until a guest is in there."""
        await until(self._entered.is_set)

    def _count(self, text: str) -> int:
        self._entered.set()
        assert self.release.wait(60)
        return 0


class MurmurRig:
    """Hooks are added with `hook`, and begin with `start`. `limits` and `environment` are the launch's."""

    def __init__(self, folder: Path, runtime: WasmRuntime) -> None:
        self.folder = folder
        self.runtime = runtime
        self.limits = HookLimits()
        self.environment: Mapping[str, str] = {}
        self.with_model = True
        self.facts = LaunchFacts("nest", "0.1.0", ("shell",))
        self.modes: Mapping[str, Mode] = {}
        self.tokens = TokenCounter("letters", len)
        self.host = Host()
        self.sink = Sink()
        self.registry = Registry()
        self.background = Background()
        self.journal = Journal(keep=100_000)
        self.dispatcher = Dispatcher(self.registry, background=self.background, journal=self.journal)
        self.hooks: MurmurHooks | None = None
        self._listed: list[tuple[HookEntry, Artifact]] = []

    @property
    def accessible(self) -> Path:
        return self.folder / "work"

    @property
    def session(self) -> Path:
        return self.folder / "work" / ".murmur" / "ses_1"

    def hook(self, name: str, payload: bytes, *, grant: Grant | None = None, overflow: Any = "drop", **manifest: str) -> None:
        """List a hook; `manifest` is `binding`, `mode` and `policy` of its own manifest."""
        keys = {"mode": "execution_mode", "policy": "commit_policy"}
        text = "runtime: hook\n" + "".join(f"{keys.get(key, key)}: {value}\n" for key, value in manifest.items())
        artifact = Artifact(name, "1.0.0", self.folder / f"{name}-1.0.0.mur.zip", text.encode(), "hook.wasm", payload)
        self._listed.append((HookEntry(name, "1.0.0", grant or Grant(), overflow), artifact))

    async def stage(self) -> MurmurHooks:
        """Stage what is listed and bind it; no instance is started."""
        self.accessible.mkdir(exist_ok=True)
        self.session.mkdir(parents=True, exist_ok=True)
        staged = await stage_hooks(self._listed, self.runtime)
        inference: Inference | None = self.host if self.with_model else None
        services = MurmurServices(inference, self.host, self.host, self.tokens)
        launch = Launch(self.facts, self.session, self.accessible, self.folder / "state", self.environment, self.limits)
        self.hooks = MurmurHooks(staged, self.runtime, launch, services, self.sink)
        for handler in self.hooks.handlers(self.modes):
            self.registry.add(handler)
        self.journal.watchers.append(self.hooks.watcher)
        return self.hooks

    async def start(self) -> MurmurHooks:
        """Stage, bind and start."""
        hooks = await self.stage()
        await hooks.open()
        return hooks

    async def fire(self, event: E) -> Outcome[E]:
        return await self.dispatcher.fire(event)

    async def drain(self, seconds: float = 15.0) -> list[GaveUp]:
        """Let work in the background end, as a session does."""
        assert self.hooks is not None
        gave_up = await self.background.drain(queued_seconds=seconds)
        self.hooks.drained(gave_up, seconds)
        return gave_up

    async def close(self) -> None:
        await self.background.drain(queued_seconds=0)
        if self.hooks is not None:
            await self.hooks.close()
