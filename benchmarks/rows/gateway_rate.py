"""Hook calls of outside agents, each judged by a Lua guard and a Python guard, on one core: beside 2,000 a second, and with 200
connections beside a few."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._servers import seconds, start

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
