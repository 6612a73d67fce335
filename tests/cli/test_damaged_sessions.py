"""A session file with lines that are JSON, but not what a session writes: a resume leaves them out, and says so."""

import json
from typing import Any

import pytest

from tests.support.command_run import Stage, calls

WRONG = [
    {"a": 1},
    {"type": 5},
    {"type": "prompt"},
    {"type": "prompt", "text": "x", "turn": "second"},
    {"type": "message", "message": 5},
    {"type": "message", "message": {"role": "alien", "text": "x"}},
    {"type": "message", "message": {"role": "assistant", "text": "", "calls": 5}},
    {"type": "message", "message": {"role": "assistant", "text": "", "calls": [{"id": "c"}]}},
    {"type": "raw", "id": 5, "raw": "x"},
    {"type": "tool_call", "id": [1], "input": 5},
    {"type": "tool_result", "id": "c"},
    {"type": "restarted", "messages": {}},
    {"type": "session", "workspace": 5, "model": 7, "profile": "default"},
    {"type": "session", "workspace": "/", "model": "x", "profile": "wide open"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: json.dumps(wrong))
def test_a_record_that_is_none_is_left_out_and_told(stage: Stage, wrong: dict[str, Any]) -> None:
    stage.plays(calls("echo one"), {"text": "Done."}, {"text": "Again."})
    stage.run("run", "dig", "--approve", "always")
    [file] = stage.home.folder.glob("sessions/*.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines, json.dumps(wrong) + "\n"]))

    ran = stage.run("run", "dig on", "--resume", file.stem, "--output", "jsonl")

    assert f"record {len(lines) + 1}: not as a session writes it, left out" in ran.err
    assert ran.records[-1]["status"] == "finished"
