"""`--output jsonl`: the records of design section 6, each with exactly its keys."""

import os
import subprocess
from datetime import datetime

import pytest

from tests.support.command_home import says
from tests.support.command_run import Stage, calls, only, said, types

KEYS = {
    "session": ["id", "parent", "workspace", "model", "reason"],
    "prompt": ["text"],
    "row": ["text", "hook"],
    "hook": ["event", "contract", "hook", "call", "target", "ended", "decision", "error", "ms"],
    "tool_call": ["id", "name", "input", "asked"],
    "tool_result": ["id", "name", "content", "is_error", "ran", "ms"],
    "reply": ["text"],
    "end": ["status", "turns", "reason"],
}


def test_the_records_of_a_turn(stage: Stage) -> None:
    stage.home.claude("UserPromptSubmit", "remember", "cat >/dev/null; echo third palm")
    stage.home.hook("pre_tool_use", "gentle", says({"power": "mutate", "input": {"command": "echo gently"}}))
    stage.home.hook("session_end", "logbook", "cat >/dev/null; echo '{}'")
    stage.plays(calls("echo hard"), {"text": "Dug."})

    ran = stage.run("run", "dig", "--approve", "always", "--output", "jsonl")

    assert (ran.status, ran.err) == (0, "")
    assert types(ran.records) == ["session", "prompt", "hook", "row", "hook", "tool_call", "tool_result", "reply", "hook", "end"]
    for record in ran.records:
        assert list(record) == ["type", "at", "session", *KEYS[record["type"]]]
        assert record["session"] == ran.records[0]["id"]
        assert datetime.fromisoformat(record["at"]).utcoffset() is not None


def test_what_the_records_say(stage: Stage) -> None:
    stage.home.hook("pre_tool_use", "gentle", says({"power": "mutate", "input": {"command": "echo gently"}}))
    stage.plays(calls("echo hard"), {"text": "Dug."})

    records = stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records

    call, hook, result = only(records, "tool_call"), only(records, "hook"), only(records, "tool_result")
    assert (call["name"], call["input"], call["asked"]) == ("bash", {"command": "echo gently"}, {"command": "echo hard"})
    assert (hook["event"], hook["contract"], hook["hook"], hook["target"]) == ("pre_tool_use", "vera", "gentle", "bash")
    assert (hook["call"], hook["ended"], hook["error"]) == (call["id"], "answered", None)
    assert hook["decision"] == {"type": "rewrite", "input": {"command": "echo gently"}}
    assert (result["id"], result["content"], result["is_error"], result["ran"]) == (call["id"], "gently\n", False, True)
    assert hook["ms"] > 0
    assert result["ms"] > 0
    assert only(records, "end") == records[-1]
    assert (records[-1]["status"], records[-1]["turns"]) == ("finished", 1)


def test_a_blocked_call_has_a_call_and_a_result_that_did_not_run(stage: Stage) -> None:
    stage.home.hook("pre_tool_use", "guard", says({"power": "block", "reason": "leave it"}))
    stage.plays(calls("rm chest"), {"text": "Left it."})

    records = stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records

    result = only(records, "tool_result")
    assert (result["content"], result["is_error"], result["ran"], result["ms"]) == ("leave it", True, False, 0)
    assert types(records).index("tool_call") < types(records).index("tool_result")


def test_a_failed_hook_has_its_error(stage: Stage) -> None:
    stage.home.entry("session_start", "missing")

    ran = stage.run("run", "dig", "--output", "jsonl")

    hook = only(ran.records, "hook")
    assert (hook["ended"], hook["decision"]) == ("not_started", None)
    assert "no such file" in hook["error"]
    assert ran.status == 0


def test_a_subagents_records_carry_its_own_session(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here"}}]},
        {"text": "Dug."},
        routes=[{"match": "dig here", "turns": [{"text": "found it"}]}],
    )

    records = stage.run("run", "dig", "--approve", "always", "--output", "jsonl").records

    parent, child = [record for record in records if record["type"] == "session"]
    assert (parent["parent"], child["parent"]) == (None, parent["id"])
    assert [record["session"] for record in records if record["type"] == "end"] == [child["id"], parent["id"]]


def test_each_line_is_there_at_once(stage: Stage) -> None:
    stage.home.hook("pre_tool_use", "gate", f"cat >/dev/null; until [ -e {stage.folder}/go ]; do sleep 0.01; done; exit 1")
    stage.plays(calls("true"))
    running = stage.start("run", "dig")

    assert types(running.until("prompt")) == ["session", "prompt"]

    (stage.folder / "go").touch()
    assert running.end()[0] == 0


def test_a_problem_is_no_record(stage: Stage) -> None:
    stage.home.settings('[hooks."nobody"]\nmode = "report"\nodd = 1\n')

    ran = stage.run("run", "dig", "--output", "jsonl")

    assert types(ran.records) == ["session", "prompt", "reply", "end"]
    assert ran.err.startswith(f"warning: {stage.home.folder}/config.toml: hooks.nobody.odd: ")


@pytest.mark.parametrize("output", ["text", "jsonl"])
def test_a_reader_that_goes_away_ends_the_run_quietly(stage: Stage, output: str) -> None:
    stage.home.hook("session_end", "logbook", f"cat >/dev/null; touch {stage.folder}/closed")
    stage.plays(calls(f"until [ -e {stage.folder}/go ]; do sleep 0.01; done"), {"text": "never", "delay": 600})
    process = subprocess.Popen(
        stage.arguments("run", "dig", "--approve", "always", "--output", output),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=stage.environment(),
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    os.read(process.stdout.fileno(), 10)

    process.stdout.close()
    (stage.folder / "go").touch()

    assert said(process.stderr.read().decode()) == []
    assert process.wait() == 130
    assert (stage.folder / "closed").exists()
    assert '"status":"interrupted"' in stage.sessions()[-1].read_text().splitlines()[-1]
