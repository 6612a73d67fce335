"""A home with extensions, and sessions of it that fire events at them."""

import asyncio
import json
import os
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tests.support.command_home import CommandHome
from treblehook.contracts.vera.extensions.activation import CAPABILITIES
from treblehook.engine import Background, Call, Dispatcher, Ended, Handler, Journal, Outcome
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.lifecycle import Event

E = TypeVar("E", bound=Event)

_MANIFEST = "vera.extension.json"


def write_extension(
    folder: Path,
    id: str,
    activate: str,
    *,
    before: str = "",
    capabilities: Iterable[str] = CAPABILITIES,
    entry: str = "index.mjs",
    **manifest: Any,
) -> Path:
    """An extension in `folder`: `activate` is the body of that function, `before` stands in front of it. It may `keep(value)`."""
    _write_manifest(folder, id, entry, capabilities, manifest)
    kept = json.dumps(_kept_by(folder))
    (folder / entry).write_text(
        f"import fs from 'node:fs';\nconst keep = (value) => fs.appendFileSync({kept}, JSON.stringify(value) + '\\n');\n"
        f"{before}\nexport async function activate(vera) {{\n{activate}\n}}\n"
    )
    return folder


def write_python_extension(
    folder: Path,
    id: str,
    activate: str,
    *,
    before: str = "",
    define: str = "def",
    capabilities: Iterable[str] = CAPABILITIES,
    entry: str = "main.py",
    **manifest: Any,
) -> Path:
    """An extension in Python, as `write_extension` has them in JavaScript; with `define` "async def" its `activate` is async."""
    _write_manifest(folder, id, entry, capabilities, manifest)
    body = textwrap.indent(textwrap.dedent(activate).strip() or "pass", "    ")
    (folder / entry).write_text(
        "import asyncio, json, sys, threading, time\n\n\n"
        f"def keep(value):\n    with open({_kept_by(folder)!r}, 'a') as file:\n        file.write(json.dumps(value) + '\\n')\n\n\n"
        f"{textwrap.dedent(before).strip()}\n\n\n{define} activate(treblehook):\n{body}\n"
    )
    return folder


def _write_manifest(folder: Path, id: str, entry: str, capabilities: Iterable[str], more: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content = {"id": id, "version": "1.0.0", "sdk": "1", "entrypoint": entry, "capabilities": list(capabilities), **more}
    (folder / _MANIFEST).write_text(json.dumps(content))


def _kept_by(folder: Path) -> str:
    return str(folder.parent.parent / f"{folder.name}.kept")


class ExtensionRig:
    """`js` and `py` add extensions to the home; a session loads them."""

    def __init__(self, folder: Path) -> None:
        files = CommandHome(folder / "home")
        self.folder, self.config, self.entries = files.folder, files.config, files.entries
        self.script, self.hook, self.settings = files.script, files.hook, files.settings
        self.place = folder
        self.environ: Mapping[str, str] = os.environ
        self._home: Home | None = None
        self._sessions: list[RigSession] = []

    def js(self, id: str, activate: str, *, name: str | None = None, **more: Any) -> Path:
        """An extension in the home's folder `extensions`, called `name` or like its id; see `write_extension`."""
        return write_extension(self.folder / "extensions" / (name or id), id, activate, **more)

    def py(self, id: str, activate: str, *, name: str | None = None, **more: Any) -> Path:
        """As `js`, in Python; see `write_python_extension`."""
        return write_python_extension(self.folder / "extensions" / (name or id), id, activate, **more)

    def configure(self, **config: Any) -> None:
        """Write config.json."""
        self.config.write_text(json.dumps({"hooks": self.entries, **config}))

    def kept(self, name: str) -> list[Any]:
        """What an extension of the home has kept."""
        file = self.folder / f"{name}.kept"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def home(self) -> Home:
        """The running home."""
        if self._home is None:
            self._home = Home(self.folder, self.environ)
        return self._home

    async def session(self, *, spawned: bool = False, awaited: bool = False) -> "RigSession":
        """The handlers of a session, with a journal and the home's log."""
        session = RigSession(await session_registry(self.home, spawned=spawned, awaited=awaited), self.home)
        self._sessions.append(session)
        return session

    async def load(self) -> list[str]:
        """Load the extensions; the ids of those that did."""
        return [extension.id for extension in (await self.home.extensions()).active]

    async def node(self) -> int | None:
        """The id of the Node process, once the extensions have been loaded."""
        return (await self.home.extensions()).node

    async def fire(self, event: E) -> Outcome[E]:
        """Fire one event in a session of its own."""
        return await (await self.session()).fire(event)

    def messages(self) -> list[str]:
        """What the user was told."""
        return [problem.message for problem in self.home.problems]

    def log(self) -> list[dict[str, Any]]:
        """The lines of host.jsonl, without their timestamps."""
        file = self.folder / "runtime" / "logs" / "host.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [{key: value for key, value in line.items() if key != "timestamp"} for line in lines]

    async def close(self) -> None:
        for session in self._sessions:
            await session.background.drain(detached_seconds=0)
        if self._home is not None:
            await self._home.close()


class RigSession:
    """One session's handlers."""

    def __init__(self, registry: Any, home: Home) -> None:
        loop = asyncio.get_running_loop()
        self.background = Background()
        self.journal = Journal(clock=lambda: loop.time())
        self.journal.watchers.append(home.log)
        self.registry = registry
        self._dispatcher = Dispatcher(registry, background=self.background, journal=self.journal)

    async def fire(self, event: E) -> Outcome[E]:
        return await self._dispatcher.fire(event)

    async def settle(self) -> None:
        """Wait until everything that nobody waits for is over."""
        assert await self.background.drain(detached_seconds=60) == []

    @property
    def handlers(self) -> list[Handler]:
        """The handlers in their order."""
        return list(self.registry.handlers())

    @property
    def calls(self) -> list[Call]:
        """The calls so far."""
        return list(self.journal.calls)

    @property
    def ends(self) -> list[tuple[str, Ended | None]]:
        """Who was asked, and how that ended."""
        return [(call.handler.name, call.ended) for call in self.calls]

    @property
    def errors(self) -> list[str | None]:
        """Why calls failed."""
        return [call.error for call in self.calls]
