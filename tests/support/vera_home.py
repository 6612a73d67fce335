"""A home with real executables under hooks/, and sessions that fire events at them."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from treblehook.contracts.vera.bind import bind
from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.host_log import HostLog
from treblehook.engine import Background, Call, Dispatcher, Journal, Mode, Outcome, Registry
from treblehook.lifecycle import AddContext, Block, Event
from treblehook.runtimes.process import ProcessRuntime

E = TypeVar("E", bound=Event)

KEEPS_STDIN = '{ cat; echo; } >> "$0.stdin"\n'
"""The first line of a script that records what it is sent; see `VeraHome.sent`."""


def says(answer: object) -> str:
    """A script that records what it is sent and prints `answer` as JSON."""
    return f"{KEEPS_STDIN}cat <<'END'\n{json.dumps(answer)}\nEND"


class VeraHome:
    """A folder with config.json and hooks/; `hook` adds to both."""

    def __init__(self, folder: Path, runtime: ProcessRuntime) -> None:
        self.folder = folder
        self.hooks = folder / "hooks"
        self.config = folder / "config.json"
        self.entries: list[dict[str, Any]] = []
        self._runtime = runtime
        self._backgrounds: list[Background] = []
        self.hooks.mkdir(parents=True)

    def script(self, name: str, body: str, *, interpreter: str = "/bin/sh", mode: int = 0o755) -> Path:
        """Write an executable under hooks/."""
        path = self.hooks / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{interpreter}\n{body}\n")
        path.chmod(mode)
        return path

    def hook(self, phase: str, name: str, body: str | bytes | None = None, **entry: Any) -> None:
        """Configure a hook; a text is its script, bytes are what it prints, None leaves the file alone."""
        if isinstance(body, bytes):
            (self.hooks / f"{name}.out").write_bytes(body)
            body = f'{KEEPS_STDIN}cat "$0.out"'
        if body is not None:
            self.script(name, body)
        self.entries.append({"phase": phase, "argv": [name], "timeout_ms": 30_000, **entry})

    def claude(self, event: str, name: str, body: str | bytes | None = None, **entry: Any) -> None:
        """Configure a hook in the claude protocol."""
        self.hook(event, name, body, protocol="claude", **entry)

    def session(self, *, spawned: bool = False, awaited: bool = False, modes: Mapping[str, Mode] | None = None) -> "Session":
        """Load the configuration as it is now and bind it."""
        self.config.write_text(json.dumps({"hooks": self.entries}))
        session = Session(self, self._runtime, spawned=spawned, awaited=awaited, modes=modes or {})
        self._backgrounds.append(session.background)
        return session

    async def fire(self, event: E) -> Outcome[E]:
        """Fire one event in a session of its own."""
        return await self.session().fire(event)

    def sent(self, name: str) -> list[Any]:
        """The payloads that a script which records them was sent."""
        file = self.hooks / f"{name}.stdin"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def log(self) -> list[dict[str, Any]]:
        """The lines of host.jsonl."""
        file = self.folder / "runtime" / "logs" / "host.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    async def close(self) -> None:
        for background in self._backgrounds:
            await background.drain(detached_seconds=0)


class Session:
    """The handlers of one session, with a journal on the loop's clock and the home's log."""

    def __init__(self, home: VeraHome, runtime: ProcessRuntime, *, spawned: bool, awaited: bool, modes: Mapping[str, Mode]) -> None:
        loop = asyncio.get_running_loop()
        self.background = Background()
        self.journal = Journal(clock=lambda: loop.time())
        self.troubles: list[str] = []
        self.journal.watchers.append(HostLog(home.folder, self.troubles.append))
        registry = Registry()
        config = load_config(home.config)
        self.handlers = bind(config, runtime=runtime, observers=runtime, spawned=spawned, awaited=awaited, modes=modes)
        for handler in self.handlers:
            registry.add(handler)
        self._dispatcher = Dispatcher(registry, background=self.background, journal=self.journal)

    async def fire(self, event: E) -> Outcome[E]:
        return await self._dispatcher.fire(event)

    async def settle(self) -> None:
        """Wait until everything that nobody waits for is over."""
        assert await self.background.drain(detached_seconds=60) == []

    @property
    def calls(self) -> list[Call]:
        return list(self.journal.calls)


def big(size: int, answer: Mapping[str, Any]) -> bytes:
    """`answer` as JSON with white space behind it, `size` bytes in all."""
    text = json.dumps(answer).encode()
    assert len(text) <= size
    return text.ljust(size)


def contexts(outcome: Outcome[E]) -> list[AddContext]:
    """The contexts that ride along, in order."""
    found = []
    for contribution in outcome.contributions:
        assert isinstance(contribution.decision, AddContext)
        found.append(contribution.decision)
    return found


def reason(outcome: Outcome[E]) -> str:
    """Why the outcome is a block."""
    assert isinstance(outcome.decision, Block)
    return outcome.decision.reason


def mode_of(path: Path) -> str:
    """The permission bits of a file, in octal."""
    return oct(os.stat(path).st_mode & 0o777)
