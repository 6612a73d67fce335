"""Hooks of a Claude Code settings file, bound as in a session, and events fired at them."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from treblehook.agent.permissions import Never, Permissions
from treblehook.agent.permissions.rules import Rules
from treblehook.contracts.claude.settings.asking import Asking
from treblehook.contracts.claude.settings.bind import Surroundings, bind_settings
from treblehook.contracts.claude.settings.entries import SettingsFile, SettingsHook
from treblehook.contracts.claude.settings.loading import read_settings_file
from treblehook.contracts.claude.settings.merging import merged
from treblehook.contracts.claude.settings.wishes import CallWishes, WishedPermission
from treblehook.engine import Background, Call, Dispatcher, Journal, Mode, Outcome, Registry
from treblehook.home.claude_settings import may_run
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import AddContext, Event, PromptSubmitted, SessionStart, ToolCall, ToolFinished, ToolProposed, TurnEnding
from treblehook.runtimes.process import ProcessRuntime

E = TypeVar("E", bound=Event)
Groups = list[dict[str, Any]]


class SettingsRig:
    """One session of a settings file; `failures` are those of hooks in the background, `wishes` what hooks say of permissions. Every hook
    that `records` keeps what it was sent in a file of its own name."""

    def __init__(self, folder: Path, runtime: ProcessRuntime, environ: Mapping[str, str]) -> None:
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.events: dict[str, Groups] = {}
        self.modes: dict[str, Mode] = {}
        self.failures: list[str] = []
        self.aside: list[asyncio.Task[None]] = []
        self.journal = Journal()
        self.wishes = CallWishes()
        self.spawned = False
        self._environ = environ
        self._runtime = runtime
        self._dispatcher: Dispatcher | None = None

    def hook(self, event: str, command: str, *, matcher: str | None = None, **more: Any) -> None:
        """Add a group with one command."""
        self.entry(event, {"type": "command", "command": command, **more}, matcher=matcher)

    def entry(self, event: str, entry: dict[str, Any], *, matcher: str | None = None) -> None:
        """Add a group with one hook."""
        group: dict[str, Any] = {"hooks": [entry]}
        if matcher is not None:
            group["matcher"] = matcher
        self.events.setdefault(event, []).append(group)

    def prints(self, event: str, answer: object, *, status: int = 0, **more: Any) -> None:
        """Add a hook that prints `answer`, as JSON unless it is a text, and exits with `status`."""
        self.hook(event, printing(answer, status), **more)

    def records(self, event: str, name: str, **more: Any) -> None:
        """Add a hook that keeps what it was sent."""
        self.hook(event, f"cat >> {name}; echo >> {name}", **more)

    def sent(self, name: str) -> list[dict[str, Any]]:
        """The payloads that were kept under `name`."""
        file = self.workspace / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def file(self) -> SettingsFile:
        """The file as it reads now."""
        return read_settings_file("/settings.json", json.dumps({"hooks": self.events}).encode())

    async def fire(self, event: E) -> Outcome[E]:
        """Fire one event; the hooks are bound at the first."""
        if self._dispatcher is None:
            registry = Registry()
            around = Surroundings(self._asking(), may_run, self._start, lambda: self.modes)
            for handler in bind_settings(merged([self.file()]).hooks, self.wishes, around, spawned=self.spawned):
                registry.add(handler)
            self._dispatcher = Dispatcher(registry, background=Background(), journal=self.journal)
        return await self._dispatcher.fire(event)

    async def proposed(self, name: str = "bash", call_id: str = "call_1", **given: Any) -> Outcome[ToolProposed]:
        """Fire the proposal of a call."""
        return await self.fire(ToolProposed(call=ToolCall(call_id, name, given or {"command": "dig"}), **self.facts))

    async def ruled(self, rules: Rules | None = None, name: str = "bash", **given: Any) -> Verdict:
        """Fire the proposal of a call, and ask the rules about what came of it; without rules the tool asks by itself."""
        call = (await self.proposed(name, **given)).value.call
        permission = WishedPermission(Permissions(rules or Rules(), Never(), self.workspace), self.wishes)
        return permission.verdict(call, ToolSpec(name, "", {}, main_argument="command", asks=True))

    async def finished(
        self, content: str = "sand", /, *, is_error: bool = False, name: str = "bash", **given: Any
    ) -> Outcome[ToolFinished]:
        """Fire the end of a call."""
        call = ToolCall("call_1", name, given or {"command": "dig"})
        return await self.fire(ToolFinished(call=call, content=content, is_error=is_error, duration_ms=12.0, **self.facts))

    async def prompted(self, prompt: str = "dig") -> Outcome[PromptSubmitted]:
        """Fire a prompt."""
        return await self.fire(PromptSubmitted(prompt=prompt, **self.facts))

    async def started(self) -> Outcome[SessionStart]:
        """Fire the start of the session."""
        return await self.fire(SessionStart(**self.facts))

    async def ending(self, continuations: int = 0) -> Outcome[TurnEnding]:
        """Fire the end of a turn."""
        return await self.fire(TurnEnding(prompt="dig", reply="Dug.", continuations=continuations, **self.facts))

    @property
    def facts(self) -> dict[str, Any]:
        """What every event of the session has."""
        return {"session": "s1", "workspace": str(self.workspace), "spawned": self.spawned}

    @property
    def calls(self) -> list[Call]:
        """Every call of a hook."""
        return list(self.journal.calls)

    def errors(self) -> list[str]:
        """What went wrong with the hooks, in order."""
        return [call.error for call in self.journal.calls if call.error is not None]

    def _asking(self) -> Asking:
        return Asking(self._runtime, self._environ, lambda session: f"/sessions/{session}.jsonl", self._failed)

    def _failed(self, hook: SettingsHook, message: str) -> None:
        self.failures.append(f"{hook.name}: {message}")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.aside.append(asyncio.ensure_future(work))


def printing(answer: object, status: int = 0) -> str:
    """A command that prints `answer`, as JSON unless it is a text, and exits with `status`."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return f"cat <<'END'\n{text}\nEND\nexit {status}"


def specific(event: str, **more: Any) -> dict[str, Any]:
    """An answer with `hookSpecificOutput`."""
    return {"hookSpecificOutput": {"hookEventName": event, **more}}


def context_texts(outcome: Outcome[Any]) -> list[str]:
    """The contexts that ride along."""
    return [one.decision.text for one in outcome.contributions if isinstance(one.decision, AddContext)]
