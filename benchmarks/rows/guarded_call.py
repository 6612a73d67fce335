"""What a guard adds to a tool call in Claude Code: an open one over HTTP and a closed one, beside a Python command hook that only allows.

Ours are installed as users install them, so they are asked after each call too; the other is asked before it only, by `python3` as PATH
finds it, and without a limit by the very interpreter. A call is the time from one request for the model to the next.
"""

import asyncio
import json
import socket
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import AsyncExitStack, suppress
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._servers import start
from benchmarks.rows.gateway_rate import LUA, MANIFEST, PYTHON
from tests.real_agents.install import installed
from tests.real_agents.launch import Client
from tests.support.fake_model import PROGRAM, FakeModel

AGENT = "claude-code"
CALLS = 30
"""In each run."""

ROUNDS = 5
SCRIPT = [*({"tools": [{"id": f"t{number}", "name": "Bash", "args": {"command": ":"}}]} for number in range(CALLS)), {"text": "done"}]
ALLOWING = 'import json, sys\njson.load(sys.stdin)\nprint("{}")\n'
"""What people have: a process per call that has nothing to object to."""


class Setup:
    """A way to guard the agent: its throw-away HOME, and what its calls took."""

    def __init__(self, client: Client, model: FakeModel) -> None:
        self.client, self.model = client, model
        self.calls: list[float] = []

    def run(self) -> None:
        """One run of the agent."""
        before = len(self.model.requests())
        ran = self.client.run(SCRIPT)
        if ran.status or len(ran.requests) != CALLS + 1:
            raise RuntimeError(f"the run of {AGENT} failed: {ran.stdout}{ran.stderr}")
        times = [row["time"] for row in self.model.requests()[before:] if row["route"] != "aux"]
        self.calls += [after - earlier for earlier, after in pairwise(times)]


async def measure() -> list[Line]:
    if not installed(AGENT):
        raise Missing(f"make test-agents AGENTS={AGENT}")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        async def setup(name: str) -> Setup:
            model = await _model(stack, folder / name)
            return Setup(Client(AGENT, folder / name, model), model)

        hook = folder / "allow.py"
        hook.write_text(ALLOWING)
        bare, found, direct = [await setup(name) for name in ("bare", "found", "direct")]
        _settings(found, {"type": "command", "command": f"python3 {hook}"})
        _settings(direct, {"type": "command", "command": f"{sys.executable} {hook}"})
        guards = [await setup("open"), await setup("closed")]
        for setup_, write in zip(guards, (_open_home, _closed_home), strict=True):
            home = setup_.client.home / ".treblehook"
            write(home)
            await _install(setup_)
            await _serve(stack, home)
        for _ in range(ROUNDS):
            for each in (bare, found, direct, *guards):
                await asyncio.to_thread(each.run)
        base = median(bare.calls)
        python3, interpreter, opened, closed = (median(each.calls) - base for each in (found, direct, *guards))
    return [
        Line("Claude Code: what an open guard adds to a call", "a python3 command hook", opened, python3, Limit(at_most=1 / 8)),
        Line("Claude Code: what a closed guard adds to a call", "a python3 command hook", closed, python3, Limit(at_most=1 / 3)),
        Line("Claude Code: what an open guard adds to a call", "a hook by the interpreter itself", opened, interpreter),
        Line("Claude Code: what a closed guard adds to a call", "a hook by the interpreter itself", closed, interpreter),
    ]


def _settings(setup: Setup, handler: dict[str, object]) -> None:
    file = setup.client.home / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}}))


def _write_config(home: Path) -> None:
    """With a port of its own."""
    home.mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (home / "config.toml").write_text(f"[web]\nport = {free.getsockname()[1]}\n")


def _open_home(home: Path) -> None:
    _write_config(home)
    extension = home / "extensions" / "guard"
    extension.mkdir(parents=True)
    (extension / "main.py").write_text(PYTHON)
    (extension / "vera.extension.json").write_text(json.dumps(MANIFEST))


def _closed_home(home: Path) -> None:
    _write_config(home)
    (home / "init.lua").write_text(LUA)


def _script(folder: Path) -> Path:
    folder.mkdir()
    file = folder / "script.json"
    file.write_text("[]")
    return file


async def _model(stack: AsyncExitStack, folder: Path) -> FakeModel:
    script, log = _script(folder), folder / "log.jsonl"
    words = [str(PROGRAM), "--script", str(script), "--port", "0", "--log", str(log)]
    server = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=PIPE)
    stack.push_async_callback(_ended, server)
    assert server.stdout is not None
    return FakeModel(f"http://127.0.0.1:{int(await server.stdout.readline())}", script, log)


async def _install(setup: Setup) -> None:
    words = ["-m", "treblehook", "install", AGENT, "--yes"]
    done = await asyncio.create_subprocess_exec(sys.executable, *words, env=setup.client.environ(), stdout=DEVNULL)
    if await done.wait():
        raise RuntimeError(f"`treblehook install {AGENT}` failed")


async def _serve(stack: AsyncExitStack, home: Path) -> None:
    daemon, _ = await start("-m", "treblehook", "serve", "--home", str(home))
    stack.push_async_callback(_ended, daemon)


async def _ended(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    await process.wait()
