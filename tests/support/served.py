"""A daemon in this process, on a real socket: its home, the deliveries that hooks got, and a client."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.support.command_home import CommandHome
from tests.support.deliveries import SECRET, secrets_file, signed
from treblehook.agent.permissions import Approver, Never
from treblehook.contracts.python import Hooks
from treblehook.daemon.hooks.socket import listening
from treblehook.daemon.http.server import listen
from treblehook.daemon.serving import Access, Daemon
from treblehook.gateway.place import socket_path
from treblehook.home.home import Home
from treblehook.lifecycle import WebhookReceived

KEY = "0123456789abcdef0123456789abcdef"
NOW = 1_700_000_000
AFAR = {"x-forwarded-for": "203.0.113.7"}
"""What a proxy adds for a caller from elsewhere."""


class Clock:
    """Seconds since 1970 that a test moves."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Stage:
    """A home below `folder`, with a webhook `ci`, and a scripted model."""

    def __init__(self, folder: Path) -> None:
        self.files = CommandHome(folder / "home")
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.script = folder / "model.json"
        self.secrets(secrets_file(ci=SECRET))

    def secrets(self, content: str) -> None:
        """Write webhooks.toml."""
        (self.home / "webhooks.toml").write_text(content)
        (self.home / "webhooks.toml").chmod(0o600)

    @property
    def opening(self) -> dict[str, str]:
        """The body that opens a session."""
        return {"workspace": str(self.workspace), "model": f"script:{self.script}"}


class Served:
    """The running daemon. `received` are the deliveries that its hook got; while `hold` is clear, the hook waits."""

    def __init__(self, stage: Stage, home: Home, daemon: Daemon, port: int, client: httpx2.AsyncClient, said: list[str]) -> None:
        self.stage = stage
        self.home = home
        self.daemon = daemon
        self.port = port
        self.client = client
        self.said = said
        self.received: list[WebhookReceived] = []
        self.hold = asyncio.Event()
        self.hold.set()
        self._news = asyncio.Event()
        hooks = Hooks()

        @hooks.on(WebhookReceived)
        async def keep(event: WebhookReceived) -> None:
            await self.hold.wait()
            self.received.append(event)
            self._news.set()

        hooks.bind(home.registry)

    async def deliver(self, body: bytes, name: str = "ci", headers: dict[str, str] | None = None, **more: str) -> httpx2.Response:
        """POST a delivery that is signed as GitHub does, or with `headers` and nothing else."""
        return await self.client.post(f"/api/webhook/{name}", content=body, headers=signed(body, **more) if headers is None else headers)

    async def deliveries(self, count: int) -> list[WebhookReceived]:
        """What hooks got, once it is so many."""
        while len(self.received) < count:
            self._news.clear()
            await self._news.wait()
        return self.received

    async def open(self, **more: Any) -> str:
        """A new session's id."""
        response = await self.client.post("/api/sessions", json={**self.stage.opening, **more})
        assert response.status_code == 201, response.text
        found: str = response.json()["id"]
        return found

    async def prompt(self, session: str, text: str = "dig", when: str = "idle") -> dict[str, Any]:
        """Send a message; answers what becomes of it."""
        response = await self.client.post(f"/api/sessions/{session}/prompts", json={"prompt": text, "when": when})
        assert response.status_code == 202, response.text
        found: dict[str, Any] = response.json()
        return found

    async def raw(self, content: bytes) -> bytes:
        """Send bytes on a connection of their own, and read until the daemon closes it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(content)
        try:
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def serving(
    stage: Stage,
    *,
    hosts: tuple[str, ...] = (),
    key: str = KEY,
    clock: Callable[[], float] = lambda: NOW,
    approver: Approver | None = None,
    park_seconds: float = 3600,
) -> AsyncIterator[Served]:
    """Serve a stage until this is left; that is a graceful shutdown."""
    said: list[str] = []
    async with Home(stage.home, os.environ) as home:
        daemon = Daemon(
            home,
            access=Access(hosts, key),
            approver=approver or Never(),
            problem=said.append,
            park_seconds=park_seconds,
            clock=clock,
        )
        with listen("127.0.0.1", 0) as bound, listening(socket_path(stage.home)) as own:
            port = bound.getsockname()[1]
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                served = Served(stage, home, daemon, port, client, said)
                started = asyncio.Event()
                task = asyncio.ensure_future(daemon.serve(bound, own, started.set))
                await started.wait()
                try:
                    yield served
                finally:
                    daemon.stop()
                    await task
