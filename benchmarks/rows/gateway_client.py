"""The command client of an outside agent, a daemon running, beside the start of the interpreter that it runs in."""

import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._servers import start
from treblehook.gateway.client import client
from treblehook.gateway.place import socket_path

ROUNDS = 60
PAYLOAD = (
    b'{"session_id":"s","transcript_path":"/t","cwd":"/tmp","hook_event_name":"PreToolUse","permission_mode":"default",'
    b'"tool_name":"Bash","tool_input":{"command":"echo"},"tool_use_id":"t"}'
)


def seconds(words: list[str]) -> float:
    """How long a process takes from its start to its end."""
    began = perf_counter()
    subprocess.run([sys.executable, "-S", "-E", *words], input=PAYLOAD, capture_output=True, check=True)
    return perf_counter() - began


async def measure() -> list[Line]:
    try:
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise Missing("pip install 'treblehook[serve]'") from error
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        daemon, _ = await start("-m", "treblehook", "serve", "--home", folder, "--port", "0")
        asking = [client.__file__, "codex", "PreToolUse", "closed", str(socket_path(home)), folder]
        ours, floor = [], []
        try:
            for _ in range(ROUNDS):
                ours.append(seconds(asking))
                floor.append(seconds(["-c", "pass"]))
        finally:
            with suppress(ProcessLookupError):
                daemon.terminate()
            await daemon.wait()
    return [Line("the command client, daemon running", "python -S -E -c pass", min(ours), min(floor), Limit(at_most=1.5))]
