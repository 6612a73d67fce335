"""`treblehook trace`: the timeline of sessions that really ran."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import MAIN, CommandHome, Ran, says

OBSERVE = says({"power": "observe"})


@pytest.fixture
def home(tmp_path: Path) -> CommandHome:
    return CommandHome(tmp_path / "home")


@pytest.fixture
def ran(home: CommandHome) -> Ran:
    """A session with a hook that rewrites, one that fails, one that adds context and one that is slow to say nothing."""
    home.hook("pre_turn", "remember", says({"power": "mutate", "context": "under the third palm"}))
    home.hook("pre_tool_use", "mender", says({"power": "mutate", "input": {"command": "echo treasure"}}))
    home.hook("post_tool_use", "bad", "cat >/dev/null; exit 3")
    home.hook("turn_ending", "quiet", OBSERVE)
    turns: list[dict[str, Any]] = [
        {"text": "Let me see.", "tools": [{"name": "bash", "args": {"command": "echo hi"}}]},
        {"text": "It is there."},
    ]
    return session(home, turns)


def session(home: CommandHome, turns: list[dict[str, Any]], *routes: dict[str, Any]) -> Ran:
    """Run one session from a script."""
    script = home.folder / "script.json"
    script.write_text(json.dumps({"turns": turns, "routes": routes}))
    run = home.run("run", "where is the treasure?", "--model", f"script:{script}", "--approve", "always", "--output", "jsonl")
    assert run.status == 0, run.err
    return run


def file_of(home: CommandHome) -> Path:
    [file] = (home.folder / "sessions").glob("*.jsonl")
    return file


def types(run: Ran) -> list[str]:
    return [record["type"] for record in run.records]


def test_the_records_are_those_that_were_shown_while_it_ran(home: CommandHome, ran: Ran) -> None:
    trace = home.run("trace", "last", "--output", "jsonl")

    assert trace.status == 0
    told = [record for record in trace.records if record["type"] not in ("message", "total")]
    assert [record["type"] for record in told] == types(ran)
    for record, shown in zip(told, ran.records, strict=True):
        kept = {key: value for key, value in record.items() if key not in ("decision", "left_out")}
        assert kept == {key: value for key, value in shown.items() if key in kept}


def test_the_last_records_are_the_totals_of_each_hook(home: CommandHome, ran: Ran) -> None:
    totals = [record for record in home.run("trace", "last", "--output", "jsonl").records if record["type"] == "total"]

    assert [(t["hook"], t["contract"], t["calls"], t["answers"], t["failures"]) for t in totals] == [
        ("remember", "vera", 1, 1, 0),
        ("mender", "vera", 1, 1, 0),
        ("bad", "vera", 1, 0, 1),
        ("quiet", "vera", 1, 0, 0),
    ]
    for total in totals:
        spent = sum(record["ms"] for record in ran.records if record["type"] == "hook" and record["hook"] == total["hook"])
        assert total["ms"] == pytest.approx(spent, abs=0.01)


def test_the_text_tells_who_was_asked_and_who_answered_what(home: CommandHome, ran: Ran) -> None:
    call = next(record["id"] for record in ran.records if record["type"] == "tool_call")

    lines = home.run("trace", "last").out.splitlines()

    told = [line[14:] for line in lines]
    assert told[0].startswith("session   ses_")
    assert "prompt    where is the treasure?" in told
    assert any(line.startswith('hook      pre_turn asked remember: answered {"type":"add_context"') for line in told)
    assert "row       remember added context [remember]" in told
    assert any(line.startswith(f"hook      pre_tool_use asked mender about bash, {call}: answered ") for line in told)
    assert "message   Let me see." in told
    at = told.index(f'call      bash {{"command":"echo treasure"}} ({call})')
    assert told[at + 1].strip() == "a hook changed the input; what the model asked for is not kept"
    assert any(line.startswith(f"hook      post_tool_use asked bad about bash, {call}: failed: exited with status 3, ") for line in told)
    assert any(line.startswith("result    bash ran in ") and line.endswith(f" ms: treasure ({call})") for line in told)
    assert any(line.startswith("hook      turn_ending asked quiet: passed, ") for line in told)
    assert "reply     It is there." in told
    assert "end       finished, turns: 1" in told


def test_the_text_ends_with_a_table(home: CommandHome, ran: Ran) -> None:
    lines = home.run("trace", "last").out.splitlines()

    table = [line.split() for line in lines[lines.index("") + 1 :]]
    assert table[0] == ["hook", "contract", "calls", "answers", "failures", "ms"]
    assert [row[:-1] for row in table[1:]] == [
        ["remember", "vera", "1", "1", "0"],
        ["mender", "vera", "1", "1", "0"],
        ["bad", "vera", "1", "0", "1"],
        ["quiet", "vera", "1", "0", "0"],
    ]


def test_a_session_without_hooks_says_so(home: CommandHome) -> None:
    session(home, [{"text": "hello"}])

    assert home.run("trace", "last").out.splitlines()[-1] == "No hook was asked."


def test_a_session_is_named_by_its_id_or_a_beginning(home: CommandHome, ran: Ran) -> None:
    id = ran.records[0]["id"]

    assert home.run("trace", id).out == home.run("trace", id[:12]).out == home.run("trace", "last").out


def test_an_unknown_session_is_wrong_usage(home: CommandHome, ran: Ran) -> None:
    run = home.run("trace", "ses_ffff")

    assert (run.status, run.out) == (2, "")
    assert "ses_ffff" in run.err
    assert ran.records[0]["id"] in run.err


def test_a_beginning_of_two_is_wrong_usage(home: CommandHome, ran: Ran) -> None:
    session(home, [{"text": "again"}])

    run = home.run("trace", "ses_")

    assert run.status == 2
    assert run.err.count("ses_") >= 3


def test_without_any_session_there_is_no_last_one(home: CommandHome) -> None:
    run = home.run("trace", "last")

    assert run.status == 2
    assert "Traceback" not in run.err


def test_last_is_the_session_that_was_written_last(home: CommandHome, ran: Ran) -> None:
    first = ran.records[0]["id"]
    session(home, [{"text": "again"}])
    os.utime(home.folder / "sessions" / f"{first}.jsonl")

    assert home.run("trace", "last", "--output", "jsonl").records[0]["id"] == first


def test_last_is_no_subagent(home: CommandHome) -> None:
    subagent_route = {"match": "look under the palm", "where": "first", "turns": [{"text": "nothing"}]}
    run = session(home, [{"tools": [{"name": "agent", "args": {"task": "look under the palm"}}]}, {"text": "gone"}], subagent_route)
    user = run.records[0]["id"]
    [subagent] = [path for path in (home.folder / "sessions").glob("*.jsonl") if path.stem != user]
    os.utime(subagent)

    assert home.run("trace", "last", "--output", "jsonl").records[0]["id"] == user
    assert f", a subagent of {user}" in home.run("trace", subagent.stem).out


def test_damaged_lines_are_told_with_their_numbers_and_the_rest_is_shown(home: CommandHome, ran: Ran) -> None:
    file = file_of(home)
    sound = home.run("trace", "last").out
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"{oops\n", b'"text"\n', *lines[2:4], b'{"type":"hook","at":"x","session":"s"}\n', *lines[4:]]))

    run = home.run("trace", "last")

    assert run.status == 0
    assert run.out == sound
    assert [line.split(": ")[2] for line in run.err.splitlines()] == ["line 3", "line 4", "line 7"]
    assert "it has no event, contract, hook" in run.err


def test_a_torn_last_line_is_told(home: CommandHome, ran: Ran) -> None:
    with file_of(home).open("ab") as file:
        file.write(b'{"type":"ho')

    run = home.run("trace", "last")

    assert run.err == ""
    assert "The last line of the file is not finished" in run.out


def test_the_file_stays_as_it_is(home: CommandHome, ran: Ran) -> None:
    file = file_of(home)
    with file.open("ab") as end:
        end.write(b"torn")
    before = file.read_bytes(), file.stat().st_mtime_ns

    home.run("trace", "last")

    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert set(home.everything()) == {
        "config.json",
        "script.json",
        *(f"hooks/{e['argv'][0]}" for e in home.entries),
        f"sessions/{file.name}",
    }


def test_control_characters_cannot_drive_the_terminal(home: CommandHome) -> None:
    session(home, [{"text": "\x1b]0;mine\x07hello"}])

    out = home.run("trace", "last").out

    assert "\x1b" not in out
    assert "reply     \\x1b]0;mine\\x07hello" in out


@pytest.fixture
def waiting(home: CommandHome) -> Iterator[Path]:
    """A session whose tool waits for somebody to write into the pipe."""
    pipe = home.folder / "pipe"
    os.mkfifo(pipe)
    script = home.folder / "script.json"
    script.write_text(json.dumps({"turns": [{"tools": [{"name": "bash", "args": {"command": f"cat {pipe}"}}]}, {"text": "done"}]}))
    command = [sys.executable, "-c", MAIN, "run", "wait", "--home", str(home.folder), "--model", f"script:{script}", "--approve", "always"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    yield pipe
    assert process.wait() == 0


def test_a_session_is_read_while_it_runs(home: CommandHome, waiting: Path) -> None:
    home_sessions = home.folder / "sessions"
    while not any(b'"tool_call"' in file.read_bytes() for file in home_sessions.glob("*.jsonl")):
        time.sleep(0.01)

    during = home.run("trace", "last", "--output", "jsonl")
    waiting.write_text("treasure")

    assert during.status == 0
    assert types(during) == ["session", "prompt", "tool_call"]
