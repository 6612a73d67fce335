"""One executable hook before a tool call, beside the bare spawn of the same program with the same bytes."""

import asyncio
import json
import tempfile
from asyncio.subprocess import PIPE
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._handlers import dispatcher
from benchmarks.timing import fastest
from treblehook.contracts.vera.bind import bind
from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.json_text import encoded
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.lifecycle import ToolCall, ToolProposed
from treblehook.runtimes.process import ProcessRuntime

LIMIT = Limit(at_most=1.10)
ROUNDS = 600
"""Batches of each; one start is a batch."""

EVENT = ToolProposed(session="ses_1", workspace="/w", call=ToolCall("call_1", "bash", {"command": "rm -r treasure/chest.yaml"}))
HOOK = """#!/bin/sh
read -r call
echo '{"power":"observe"}'
"""


def home(folder: Path) -> Path:
    """A home with one hook; answers the hook's file."""
    hook = folder / "hooks" / "lookout"
    hook.parent.mkdir()
    hook.write_text(HOOK)
    hook.chmod(0o755)
    (folder / "config.json").write_text(json.dumps({"hooks": [{"phase": "pre_tool_use", "argv": ["lookout"]}]}))
    return hook


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        hook = home(Path(folder))
        payload = encoded(PAYLOADS["pre_tool_use"](EVENT))
        runtime = ProcessRuntime()
        config = load_config(Path(folder, "config.json"))
        handlers = bind(config, runtime=runtime, observers=runtime, spawned=False, awaited=False, modes={})
        fire = dispatcher(*handlers, journal=True).fire

        async def asked(times: int) -> None:
            for _ in range(times):
                outcome = await fire(EVENT)
                assert outcome.decision is None, outcome.decision

        async def spawned(times: int) -> None:
            for _ in range(times):
                process = await asyncio.create_subprocess_exec(hook, stdin=PIPE, stdout=PIPE, stderr=PIPE)
                stdout, _ = await process.communicate(payload)
                assert stdout, process.returncode

        best = await fastest({"asked": asked, "spawned": spawned}, rounds=ROUNDS)
        await runtime.close()
    return [Line("one executable hook", "the bare spawn of the same program", best["asked"], best["spawned"], LIMIT)]
