"""Hook calls of outside agents, each judged by a Lua guard and a Python guard, on one core: beside 2,000 a second, and with 200
connections beside a few."""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import cast

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows.webhook_rate import start

A_SECOND = 2000
FEW = 8
MANY = 200
REQUESTS = 3000
"""In each batch."""

ROUNDS = 5

LUA = """
cru.on("pre_tool_call", { pattern = "bash" }, function(ctx, event)
  if event.args.command:find("rm %-rf") then return { cancel = true, reason = "no" } end
end)
"""
PYTHON = """
def activate(treblehook):
    def guard(payload):
        if "sudo" in str(payload["toolCall"]["input"].get("command", "")):
            return {"power": "block", "reason": "no"}
        return {"power": "observe"}

    treblehook.hooks.register_pre_tool_use(guard)
"""
MANIFEST = {
    "id": "guard",
    "version": "1.0.0",
    "sdk": "1",
    "entrypoint": "main.py",
    "capabilities": ["hooks.pre_tool_use"],
    "contributes": {},
}


class Agent(asyncio.Protocol):
    """One connection of an agent: asks about the next call when the one before has been answered."""

    def __init__(self, left: Iterator[bytes]) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._left = left
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        if self._answer.endswith(b"}"):
            assert self._answer.startswith(b"HTTP/1.1 200 "), self._answer
            self._send()

    def _send(self) -> None:
        self._answer = b""
        request = next(self._left, None)
        if request is not None:
            self._transport.write(request)
        elif not self.done.done():
            self._transport.close()
            self.done.set_result(None)


def requests(count: int, token: str, workspace: str) -> Iterator[bytes]:
    """Calls of twenty sessions."""
    for number in range(count):
        payload = {
            "session_id": f"session-{number % 20}",
            "transcript_path": "/nowhere",
            "cwd": workspace,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": f"echo {number}", "description": "count"},
            "tool_use_id": f"toolu_{number}",
        }
        body = json.dumps(payload).encode()
        head = f"POST /hooks/codex?event=PreToolUse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        yield f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def seconds(port: int, connections: int, calls: list[bytes]) -> float:
    """How long the gateway takes for them all."""
    loop, left = asyncio.get_running_loop(), iter(calls)
    began = perf_counter()
    made = [await loop.create_connection(lambda: Agent(left), "127.0.0.1", port) for _ in range(connections)]
    await asyncio.gather(*(agent.done for _, agent in made))
    return perf_counter() - began


def write_home(home: Path) -> None:
    """Two guards."""
    home.mkdir()
    (home / "init.lua").write_text(LUA)
    extension = home / "extensions" / "guard"
    extension.mkdir(parents=True)
    (extension / "main.py").write_text(PYTHON)
    (extension / "vera.extension.json").write_text(json.dumps(MANIFEST))


async def measure() -> list[Line]:
    try:
        import lupa  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise Missing("pip install 'treblehook[serve,lua]'") from error
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        write_home(home)
        gateway, port = await start("-m", "treblehook", "serve", "--home", str(home), "--port", "0")
        os.sched_setaffinity(gateway.pid, {min(os.sched_getaffinity(0))})
        token = (home / "token").read_text().strip()
        best = {FEW: float("inf"), MANY: float("inf")}
        try:
            for _ in range(ROUNDS):
                for connections in best:
                    calls = list(requests(REQUESTS, token, folder))
                    best[connections] = min(best[connections], await seconds(port, connections, calls) / REQUESTS)
        finally:
            with suppress(ProcessLookupError):
                gateway.terminate()
            await gateway.wait()
    return [
        Line("one hook call, two guards", f"{A_SECOND:,} a second", best[FEW], 1 / A_SECOND, Limit(at_most=1.0)),
        Line(f"the same over {MANY} connections", f"over {FEW}", best[MANY], best[FEW], Limit(at_most=1.25)),
    ]
