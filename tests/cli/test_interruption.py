"""Ctrl-C and its kin: the turn stops at once, the session ends properly, and a second one kills."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.command_run import Record, Running, Stage, calls, only, types, wait_for
from tests.support.processes import alive


def waits(folder: Path) -> str:
    """A command line that writes its process id and then waits for ever."""
    return f"echo $$ > {folder}/pid.new; mv {folder}/pid.new {folder}/pid; exec sleep 600"


def pid_of(folder: Path) -> int:
    """Wait for that command; answers its process id."""
    wait_for((folder / "pid").exists)
    return int((folder / "pid").read_text())


def logbook(stage: Stage) -> None:
    """An end hook that leaves the reason behind."""
    stage.home.hook("session_end", "logbook", f'cat > {stage.folder}/logbook; echo \'{{"power":"observe"}}\'')


def assert_ended_by_the_user(stage: Stage, running: Running) -> list[Record]:
    status, records, errors = running.end()
    assert status == 130, errors
    assert errors == ""
    assert records[-1]["type"] == "end"
    assert (records[-1]["status"], records[-1]["reason"]) == ("interrupted", "stopped by the user")
    assert '"reason":"detached"' in (stage.folder / "logbook").read_text()
    return records


def test_in_the_middle_of_a_hook(stage: Stage) -> None:
    logbook(stage)
    stage.home.hook("pre_tool_use", "slow", waits(stage.folder))
    stage.plays(calls("true"))
    running = stage.start("run", "dig")
    hook = pid_of(stage.folder)

    running.signal(signal.SIGINT)

    records = assert_ended_by_the_user(stage, running)
    assert "tool_call" not in types(records)
    wait_for(lambda: not alive(hook))


def test_in_the_middle_of_a_start_hook(stage: Stage) -> None:
    logbook(stage)
    stage.home.hook("session_start", "slow", waits(stage.folder))
    running = stage.start("run", "dig")
    hook = pid_of(stage.folder)

    running.signal(signal.SIGINT)

    status, records, errors = running.end()
    assert (status, errors) == (130, "")
    assert (records[-1]["type"], records[-1]["status"]) == ("end", "interrupted")
    assert "prompt" not in types(records)
    assert (stage.folder / "logbook").exists()
    wait_for(lambda: not alive(hook))


def test_in_the_middle_of_a_tool(stage: Stage) -> None:
    logbook(stage)
    stage.plays(calls(waits(stage.folder)))
    running = stage.start("run", "dig", "--approve", "always")
    tool = pid_of(stage.folder)

    running.signal(signal.SIGINT)

    assert_ended_by_the_user(stage, running)
    wait_for(lambda: not alive(tool))


def test_in_the_middle_of_the_models_reply(stage: Stage) -> None:
    logbook(stage)
    stage.plays({"text": "never", "delay": 600})
    running = stage.start("run", "dig")
    running.until("prompt")

    running.signal(signal.SIGINT)

    assert "reply" not in types(assert_ended_by_the_user(stage, running))


def test_while_a_background_subagent_is_waited_for(stage: Stage) -> None:
    logbook(stage)
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        routes=[{"match": "dig here", "turns": [calls(waits(stage.folder))]}],
    )
    running = stage.start("run", "dig", "--approve", "always")
    tool = pid_of(stage.folder)
    running.until("reply")

    running.signal(signal.SIGINT)

    records = assert_ended_by_the_user(stage, running)
    assert [record["status"] for record in records if record["type"] == "end"] == ["interrupted", "interrupted"]
    wait_for(lambda: not alive(tool))


def test_a_stopped_session_can_be_resumed(stage: Stage) -> None:
    stage.plays(calls(waits(stage.folder)), {"text": "Back again."})
    running = stage.start("run", "dig", "--approve", "always")
    pid_of(stage.folder)
    running.signal(signal.SIGINT)
    session = running.end()[1][0]["session"]

    ran = stage.run("run", "go on", "--resume", session, "--output", "jsonl")

    assert only(ran.records, "reply")["text"] == "Back again."


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGTERM, "shutdown"), (signal.SIGHUP, "detached")])
def test_other_signals_end_the_session_as_properly(stage: Stage, number: signal.Signals, reason: str) -> None:
    logbook(stage)
    stage.plays(calls(waits(stage.folder)))
    running = stage.start("run", "dig", "--approve", "always")
    pid_of(stage.folder)

    running.signal(number)

    status, records, errors = running.end()
    assert (status, errors) == (130, "")
    assert (records[-1]["status"], records[-1]["reason"]) == ("interrupted", f"stopped by {number.name}")
    assert f'"reason":"{reason}"' in (stage.folder / "logbook").read_text()


def test_a_second_one_kills(stage: Stage) -> None:
    stage.home.hook("session_end", "stubborn", f"cat >/dev/null; trap '' TERM; {waits(stage.folder)}")
    stage.plays({"text": "never", "delay": 600})
    running = stage.start("run", "dig")
    running.until("prompt")
    running.signal(signal.SIGINT)
    left_over = pid_of(stage.folder)

    running.signal(signal.SIGINT)

    status, records, _ = running.end()
    assert status == -signal.SIGINT
    assert "end" not in types(records)
    os.kill(left_over, signal.SIGKILL)
