"""From the start of `treblehook run` with a scripted model to its first tool call, beside the interpreter alone."""

import json
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._commands import COMMAND, NOTHING, ROUNDS, started
from benchmarks.timing import fastest

LIMIT = Limit(more=0.5)


def command(folder: str) -> tuple[str, ...]:
    """A run with a home without hooks, so that the command itself is measured."""
    home, model = Path(folder, "home"), Path(folder, "model.json")
    home.mkdir()
    model.write_text(json.dumps([{"tools": [{"name": "bash", "args": {"command": "true"}}]}]))
    places = ("--home", str(home), "--workspace", folder, "--model", f"script:{model}")
    return (*COMMAND, "run", "begin", *places, "--approve", "always", "--output", "jsonl")


async def measure() -> list[Line]:
    """The process is killed at the call."""
    with tempfile.TemporaryDirectory() as folder:
        ours = started(command(folder), until=b'"type":"tool_call"')
        best = await fastest({"ours": ours, "floor": started(NOTHING)}, rounds=ROUNDS)
    return [Line("treblehook run, to the first tool call", "python -c pass", best["ours"], best["floor"], LIMIT)]
