"""The session's file after the worst: kill -9, a full disk, a home that cannot be written, a workspace that is gone."""

import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_run import Record, Running, Stage
from tests.support.nest import Nest, agent, bash, check_answered, says, unnamed
from treblehook.agent.records import messages_of
from treblehook.agent.transcript import TranscriptFailed, read_records
from treblehook.host.problems import ConfigInvalid

ROUNDS = 30

SUMMARY = {"match": "Summarise", "where": "last", "turns": [{"text": "In short.", "repeat": 20}]}
DIG = {"match": "dig", "turns": [bash("echo below"), {"text": "Dug."}]}
TURNS = [
    bash("echo one", "echo two", text="Looking."),
    {"text": "Done."},
    {"text": "Really done.", "tools": [{"name": "write", "args": {"path": "map", "content": "x"}}, *agent("dig")["tools"]]},
    {"text": "Drawn."},
]


def hooks(home: Any) -> None:
    """A hook of every phase, each doing what it can."""
    home.hook("session_start", "crow", says({"power": "mutate", "context": "The crow likes short answers."}))
    home.hook("pre_turn", "remember", says({"power": "mutate", "context": "third palm"}))
    home.hook("pre_tool_use", "guard", says({"power": "observe"}))
    home.hook("post_tool_use", "after", says({"power": "mutate", "patch": {"isError": False}}))
    home.hook("turn_ending", "map-check", says({"power": "continue", "context": "Draw the map."}))
    for phase in ("pre_compact", "subagent_finished", "session_end"):
        home.hook(phase, phase, "cat >/dev/null")


def mounted(folder: Path) -> bool:
    """Whether a file system could be mounted on `folder` that nobody can write to."""
    command = ["mount", "-t", "tmpfs", "-o", "ro", "none", str(folder)]
    return shutil.which("mount") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount(folder: Path) -> None:
    if folder.is_mount():
        subprocess.run(["umount", str(folder)], check=True)


def acknowledged(output: bytes) -> Iterator[Record]:
    """The records that were written whole."""
    for line in output.split(b"\n")[:-1]:
        yield json.loads(line)


def check_kept(folder: Path, records: list[Record]) -> None:
    """Each record that was shown is in the file of its session, but for the texts that the file leaves out."""
    files = {path.stem: read_records(path.read_bytes(), str(path)) for path in folder.glob("*.jsonl")}
    assert all(contents.damage == () for contents in files.values())
    for record in records:
        stored = files[record["session"]].records
        if record["type"] == "reply":
            assert any(r["type"] == "message" and r["message"].get("text", "") == record["text"] for r in stored), record
            continue
        same = [r for r in stored if (r["type"], r["at"]) == (record["type"], record["at"])]
        assert any(all(r.get(key) == record[key] for key in record if key not in ("asked", "decision")) for r in same), record


@pytest.mark.slow
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_kill_9_at_any_moment(nest: Nest, tmp_path: Path, number: int) -> None:
    """The file loads, what was acknowledged is in it, the conversation is valid, and a further prompt works."""
    chance = random.Random(number)
    stage = Stage(tmp_path / "stage")
    hooks(stage.home)
    stage.plays(*TURNS, routes=[SUMMARY, DIG])
    argv = stage.arguments("chat", "--approve", "always", "--input", "jsonl", "--output", "jsonl")
    running = Running(argv, tmp_path / "stderr", stage.environment())
    running.send({"prompt": "go"}, {"command": "/compact"}, {"prompt": "go on"})
    shown, enough = [], chance.randrange(60)
    for record in running.records():
        shown.append(record)
        if len(shown) > enough:
            break
    await asyncio.sleep(chance.random() * 0.02)

    running.signal(signal.SIGKILL)
    assert running.process.stdout is not None
    shown += acknowledged(running.process.stdout.read())
    running.process.wait()

    sessions = stage.home.folder / "sessions"
    check_kept(sessions, [record for record in shown if record["type"] not in ("command",)])
    main = next(record["id"] for record in shown if record["type"] == "session")
    nest.folder = stage.home.folder
    nest.plays(after={"text": "Aye."})
    for file in sorted(sessions.glob("*.jsonl")):
        session = await nest.open(resume=file.stem, workspace=nest.workspace, model=f"script:{tmp_path / 'model.json'}")
        check_answered(session.state.conversation.messages)
        assert (await session.prompt("still there?")).text == "Aye."
        check_answered(list(nest.queries[-1].messages))
        assert session.state.conversation.messages[-1].text == "Aye."
        await session.finish("detached")
    assert main in [file.stem for file in sessions.glob("*.jsonl")]


async def test_a_file_can_be_cut_at_any_byte(nest: Nest) -> None:
    """Every beginning of a file is a valid conversation that the next longer one continues."""
    hooks(nest)
    nest.plays(*TURNS, routes=[SUMMARY, DIG])
    session = await nest.open()
    await session.prompt("go")
    await session.compact()
    nest.plays(*TURNS, routes=[SUMMARY, DIG])
    await session.prompt("go on")
    await session.finish("detached")
    for file in (nest.folder / "sessions").glob("*.jsonl"):
        data = file.read_bytes()
        ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
        chance = random.Random(1)
        for cut in sorted({0, *ends, *(chance.randrange(len(data)) for _ in range(200))}):
            contents = read_records(data[:cut], "file")
            assert contents.damage == ()
            assert len(contents.records) == data.count(b"\n", 0, cut)
            check_answered(messages_of(contents.records))
    whole = messages_of(read_records((nest.folder / "sessions" / f"{session.id}.jsonl").read_bytes(), "file").records)
    assert unnamed(whole) == unnamed(session.state.conversation.messages)


LIMITED = """
import os, resource, sys
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Runs a command that can write no file longer than so many bytes."""


@pytest.mark.parametrize("size", range(300, 8000, 550))
async def test_a_full_disk_is_one_clear_line_and_a_file_that_can_be_resumed(nest: Nest, tmp_path: Path, size: int) -> None:
    """The limit on a file's size stands in for the disk; it hits in the middle of a session, wherever that is."""
    stage = Stage(tmp_path / "stage")
    hooks(stage.home)
    stage.plays(*TURNS, routes=[SUMMARY, DIG])
    argv = stage.arguments("run", "--approve", "always", "--output", "jsonl", "go")
    running = Running([sys.executable, "-c", LIMITED, str(size), *argv], tmp_path / "stderr", stage.environment())

    status, shown, errors = running.end()

    sessions = stage.home.folder / "sessions"
    assert max(file.stat().st_size for file in sessions.glob("*.jsonl")) <= size
    assert status == 1
    lines = [line for line in errors.splitlines() if line]
    assert len(lines) == 1, errors
    assert "File too large" in lines[0]
    assert ".jsonl" in lines[0]
    *before, end = shown
    if before:
        assert (end["type"], end["status"]) == ("end", "failed")
        assert "File too large" in end["reason"]
    check_kept(sessions, before)
    nest.folder = stage.home.folder
    nest.plays(after={"text": "Aye."})
    for file in sorted(sessions.glob("*.jsonl")):
        if file.stat().st_size:
            session = await nest.open(resume=file.stem, workspace=nest.workspace, model=f"script:{tmp_path / 'model.json'}")
            assert (await session.prompt("still there?")).text == "Aye."
            check_answered(session.state.conversation.messages)


async def test_a_hook_that_nobody_waits_for_and_a_full_disk(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record cannot be written while nothing else is; whoever writes next is told, and the loop has nothing to complain of."""
    nest.hook("subagent_finished", "watch", "cat >/dev/null")
    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open()
    transcript = session.state.recorder._transcript
    append, complaints = transcript.append, []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))

    def full(record: Record) -> None:
        if record["type"] == "hook":
            raise TranscriptFailed(transcript.path, "No space left on device")
        append(record)

    monkeypatch.setattr(transcript, "append", full)

    async def until_told() -> None:
        await session.prompt("go")
        await session.state.background.drain()
        await session.prompt("again")

    with pytest.raises(TranscriptFailed, match="No space left"):
        await until_told()

    assert complaints == []
    monkeypatch.setattr(transcript, "append", append)
    assert (await session.prompt("again")).status == "finished"


@pytest.mark.parametrize("home", ["file/home", "/sys/kernel/treblehook"])
def test_a_home_that_cannot_be_written_is_one_clear_line(tmp_path: Path, home: str) -> None:
    stage = Stage(tmp_path)
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / home)

    ran = stage.bare("run", "--home", folder, "--workspace", str(stage.workspace), "--model", f"script:{stage.model}", "go")

    assert ran.status in (1, 2)
    told = [line for line in ran.err.splitlines() if folder in line and not line.startswith("warning: ")]
    assert [line.lower().startswith("error: ") for line in told] == [True]


def test_a_home_on_a_read_only_file_system_is_one_clear_line(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    folder = tmp_path / "read-only"
    folder.mkdir()
    if not mounted(folder):
        folder.chmod(0o555)
    try:
        ran = stage.bare("run", "--home", str(folder), "--workspace", str(stage.workspace), "--model", f"script:{stage.model}", "go")
    finally:
        unmount(folder)

    if ran.status == 0:
        pytest.skip("the superuser writes everywhere, and nothing can be mounted here")
    (line,) = ran.err.splitlines()
    assert str(folder) in line
    assert "ead-only file system" in line or "ermission denied" in line


async def test_a_workspace_that_is_deleted_in_the_middle(nest: Nest) -> None:
    nest.recorder("pre_tool_use")
    nest.plays(bash("pwd"), {"text": "Gone."}, after={"text": "Aye."})
    session = await nest.open()
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()
    shutil.rmtree(nest.workspace)
    go.set()

    assert (await turn).text == "Gone."

    (result,) = nest.ears.of("tool_result")
    assert result["is_error"] is True
    assert "o such file or directory" in result["content"]
    assert len(nest.sent("pre_tool_use")) == 1
    await session.finish("detached")
    with pytest.raises(ConfigInvalid, match="not a folder"):
        await nest.open(resume=session.id, workspace=None)
    (nest.place / "other").mkdir()
    again = await nest.open(resume=session.id, workspace=nest.place / "other")
    assert (await again.prompt("and now?")).text == "Aye."


async def test_a_session_has_one_owner_at_a_time(nest: Nest) -> None:
    session = await nest.open()

    with pytest.raises(TranscriptFailed, match="open in another process"):
        await nest.open(resume=session.id)

    assert (await session.prompt("go")).status == "finished"
