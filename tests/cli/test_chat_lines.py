"""`treblehook chat` driven by program: `--input jsonl --output jsonl`."""

import signal
import subprocess

import pytest

from tests.cli.test_interruption import logbook, pid_of, waits
from tests.support.command_home import says
from tests.support.command_run import Running, Stage, calls, only, types

OBSERVE = """echo '{"power":"observe"}'"""
NOT_TODAY = """echo '{"power":"block","reason":"not today"}'"""


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.plays(after={"text": "Aye."})
    return stage


def chat(stage: Stage, *arguments: str) -> Running:
    """A chat whose session has been announced."""
    running = stage.start("chat", "--input", "jsonl", *arguments)
    running.until("session")
    return running


def leaves(running: Running) -> list[dict[str, object]]:
    """Close the input and wait for the end; answers the records that were left."""
    running.close_input()
    status, records, errors = running.end()
    assert (status, errors) == (0, "")
    return records


def held_up(stage: Stage, name: str = "go") -> str:
    """A command line that is done once `go` lets it."""
    return f"until [ -e {stage.folder}/{name} ]; do sleep 0.01; done"


def go(stage: Stage, name: str = "go") -> None:
    (stage.folder / name).touch()


# Messages


def test_each_turn_has_its_end(stage: Stage) -> None:
    running = chat(stage)

    running.send({"prompt": "one"})
    first = running.until("end")
    running.send({"prompt": "two", "when": "now"})
    second = running.until("end")

    assert types(first) == types(second) == ["prompt", "reply", "end"]
    assert (first[-1]["status"], first[-1]["turns"]) == ("finished", 1)
    assert (second[-1]["status"], second[-1]["turns"]) == ("finished", 2)
    assert leaves(running) == []


def test_a_chat_without_a_turn_has_one_end(stage: Stage) -> None:
    logbook(stage)
    records = leaves(chat(stage))

    assert types(records) == ["hook", "end"]
    assert (records[-1]["status"], records[-1]["turns"]) == ("finished", 0)
    assert '"reason":"detached"' in (stage.folder / "logbook").read_text()


def test_messages_for_idle_wait_for_their_turn(stage: Stage) -> None:
    stage.plays(calls(held_up(stage)), after={"text": "Aye."})
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "one"})
    running.until("tool_call")

    running.send({"prompt": "two", "when": "idle"}, {"prompt": "three"})
    running.send({"command": "/context"})
    running.until("command")
    go(stage)

    assert types(running.until("end")) == ["tool_result", "reply", "end"]
    records = leaves(running)
    assert types(records) == ["prompt", "reply", "end"] * 2
    assert [record["text"] for record in records if record["type"] == "prompt"] == ["two", "three"]


def test_a_message_sent_now_joins_the_running_turn(stage: Stage) -> None:
    stage.home.hook("pre_turn", "lookout", f'cat >> {stage.folder}/heard; echo \'{{"power":"observe"}}\'')
    stage.plays(calls(held_up(stage)), after={"text": "Aye."})
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "one"})
    running.until("tool_call")

    running.send({"prompt": "hurry", "when": "now"}, {"command": "/context"})
    running.until("command")
    go(stage)

    records = running.until("end")
    assert types(records) == ["tool_result", "prompt", "hook", "reply", "end"]
    assert only(records, "prompt")["text"] == "hurry"
    assert records[-1]["turns"] == 1
    assert '"arrivedDuringTurn":true' in (stage.folder / "heard").read_text()
    assert leaves(running) == []


def test_a_message_that_comes_too_late_to_join_starts_a_turn_before_those_that_wait(stage: Stage) -> None:
    stage.home.hook("turn_ending", "slow", f'cat >/dev/null; touch {stage.folder}/ending; {held_up(stage)}; echo \'{{"power":"observe"}}\'')
    running = chat(stage)
    running.send({"prompt": "one"}, {"prompt": "three"})
    running.until("prompt")

    running.send({"prompt": "two", "when": "now"}, {"command": "/context"})
    running.until("command")
    go(stage)

    records = leaves(running)
    assert [record["text"] for record in records if record["type"] == "prompt"] == ["two", "three"]
    assert [record["turns"] for record in records if record["type"] == "end"] == [1, 2, 3]


def test_the_end_of_the_input_lets_everything_be_done(stage: Stage) -> None:
    running = chat(stage)
    running.send({"prompt": "one"}, {"prompt": "two"}, {"command": "/compact"}, {"prompt": "three"})

    records = leaves(running)

    assert [record["text"] for record in records if record["type"] == "prompt"] == ["one", "two", "three"]
    assert types(records).count("end") == 3
    assert types(records).count("compaction") == 1


def test_a_turn_that_fails_or_is_blocked_does_not_end_the_chat(stage: Stage) -> None:
    stage.home.hook(
        "pre_turn", "silence", 'grep -q Sunday && echo \'{"power":"block","reason":"not today"}\' || echo \'{"power":"observe"}\''
    )
    stage.plays({"status": 400, "error": "storm"}, after={"text": "Aye."})
    running = chat(stage)

    running.send({"prompt": "one"})
    assert running.until("end")[-1]["status"] == "failed"
    running.send({"prompt": "on Sunday"})
    blocked = running.until("end")[-1]

    assert (blocked["status"], blocked["reason"]) == ("blocked", "not today")
    assert leaves(running) == []


def test_background_results_start_a_turn_while_the_chat_is_idle(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        {"text": "The scout is back."},
        routes=[{"match": "dig here", "turns": [calls(held_up(stage)), {"text": "found it"}]}],
    )
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "dig"})
    assert [r["text"] for r in running.until("end") if r["type"] == "reply"] == ["I wait."]

    go(stage)

    records = running.until("reply", text="The scout is back.")
    assert "prompt" not in [record["type"] for record in records if record["session"] == records[-1]["session"]]
    assert running.until("end")[-1]["status"] == "finished"
    running.close_input()
    assert running.end()[0] == 0


def test_the_end_of_the_input_waits_for_background_subagents(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        {"text": "The scout is back."},
        routes=[{"match": "dig here", "turns": [{"text": "found it", "delay": 0.3}]}],
    )
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "dig"})
    running.close_input()

    status, records, _ = running.end()

    assert status == 0
    assert [record["text"] for record in records if record["type"] == "reply"] == ["I wait.", "found it", "The scout is back."]


# Interruption


def test_an_interruption_stops_the_turn_and_the_chat_goes_on(stage: Stage) -> None:
    stage.plays(calls(waits(stage.folder)), after={"text": "Aye."})
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "one"}, {"prompt": "two"})
    pid_of(stage.folder)

    running.send({"interrupt": True})

    first = running.until("end")[-1]
    assert (first["status"], first["reason"]) == ("interrupted", "stopped by the user")
    assert types(running.until("end")) == ["prompt", "reply", "end"]
    assert leaves(running) == []


def test_a_compaction_can_be_interrupted(stage: Stage) -> None:
    stage.plays(aux={"text": "never", "delay": 600}, after={"text": "Aye."})
    running = chat(stage)
    running.send({"prompt": "one"})
    running.until("end")

    running.send({"command": "/compact"}, {"interrupt": True}, {"prompt": "two"})

    assert running.until("command")[-1]["result"]["error"] == "stopped by the user"
    assert types(running.until("end")) == ["prompt", "reply", "end"]
    assert leaves(running) == []


def test_a_turn_can_be_interrupted_before_it_has_begun(stage: Stage) -> None:
    stage.plays({"text": "never", "delay": 600}, routes=[{"match": "two", "where": "last", "turns": [{"text": "Aye."}]}])
    running = chat(stage)
    running.send({"prompt": "one"}, {"interrupt": True}, {"prompt": "two"})

    assert running.until("end")[-1]["status"] == "interrupted"
    assert running.until("end")[-1]["status"] == "finished"
    assert leaves(running) == []


def test_an_interruption_of_nothing_is_nothing(stage: Stage) -> None:
    running = chat(stage)
    running.send({"interrupt": True}, {"prompt": "one"})

    assert types(running.until("end")) == ["prompt", "reply", "end"]
    assert leaves(running) == []


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGINT, "detached"), (signal.SIGTERM, "shutdown")])
@pytest.mark.parametrize("idle", [True, False])
def test_a_signal_ends_the_chat(stage: Stage, number: signal.Signals, reason: str, idle: bool) -> None:
    logbook(stage)
    stage.plays(calls(waits(stage.folder)), after={"text": "Aye."})
    running = chat(stage, "--approve", "always")
    if not idle:
        running.send({"prompt": "one"}, {"prompt": "two"})
        pid_of(stage.folder)

    running.signal(number)

    status, records, errors = running.end()
    assert (status, errors) == (130, "")
    assert (records[-1]["type"], records[-1]["status"]) == ("end", "interrupted")
    assert types(records).count("end") == 1
    assert f'"reason":"{reason}"' in (stage.folder / "logbook").read_text()


# Commands


def test_quit_leaves_at_once(stage: Stage) -> None:
    logbook(stage)
    stage.plays(calls(waits(stage.folder)), after={"text": "Aye."})
    running = chat(stage, "--approve", "always")
    running.send({"prompt": "one"}, {"prompt": "two"})
    pid_of(stage.folder)

    running.send({"command": "/quit"})

    status, records, errors = running.end()
    assert (status, errors) == (0, "")
    assert [record["status"] for record in records if record["type"] == "end"] == ["interrupted"]
    assert only(records, "hook")["hook"] == "logbook"


def test_quit_leaves_before_a_turn_has_begun(stage: Stage) -> None:
    stage.plays({"text": "never", "delay": 600})
    running = chat(stage)
    running.send({"prompt": "one"}, {"command": "/quit"})

    status, records, _ = running.end()

    assert status == 0
    assert records[-1]["type"] == "end"


def test_commands_answer_with_a_record(stage: Stage) -> None:
    stage.home.claude("UserPromptSubmit", "remember", "cat >/dev/null; echo third palm")
    running = chat(stage)
    running.send({"prompt": "one"})
    running.until("end")

    running.send({"command": "/context"}, {"command": "/usage"}, {"command": "/hooks"}, {"command": "/compact"})

    found = {}
    for _ in range(4):
        record = running.until("command")[-1]
        assert list(record) == ["type", "at", "session", "command", "result"]
        found[record["command"]] = record["result"]
    assert list(found) == ["/context", "/usage", "/hooks", "/compact"]
    assert found["/context"].keys() == {"tokens", "window", "messages", "sources"}
    assert found["/context"]["messages"] == 3
    assert [source["source"] for source in found["/context"]["sources"]] == ["user", "UserPromptSubmit remember", "assistant"]
    assert found["/usage"] == {
        "uses": [
            {
                "use": "turn",
                "model": f"script:{stage.model}",
                "requests": 1,
                "input": 10,
                "output": 5,
                "cache_read": 0,
                "cache_write": 0,
            }
        ]
    }
    (handler,) = found["/hooks"]["handlers"]
    assert (handler["order"], handler["event"], handler["hook"], handler["held_back"]) == (1, "UserPromptSubmit", "remember", None)
    assert found["/compact"].keys() == {"error", "tokens"}
    assert found["/compact"]["error"] is None
    running.send({"command": "/usage"})
    assert [use["use"] for use in running.until("command")[-1]["result"]["uses"]] == ["turn", "compaction"]
    assert leaves(running) == []


def test_a_compaction_that_fails_says_why(stage: Stage) -> None:
    stage.plays(aux={"status": 400, "error": "storm"}, after={"text": "Aye."})
    running = chat(stage)
    running.send({"command": "/compact"})
    assert running.until("command")[-1]["result"]["error"] == "the conversation is empty"
    running.send({"prompt": "one"}, {"command": "/compact"})

    assert running.until("command")[-1]["result"]["error"].endswith("HTTP 400: storm")
    assert leaves(running) == []


def test_a_bare_session_says_so(stage: Stage) -> None:
    stage.home.hook("pre_turn", "lookout", says({"power": "observe"}))
    running = chat(stage, "--bare")

    running.send({"command": "/hooks"})

    assert running.until("command")[-1]["result"] == {"profile": "bare", "handlers": []}
    assert types(leaves(running)) == ["end"]


# Lines that cannot be taken


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        '"prompt"',
        "[1]",
        "{}",
        '{"prompt": 5}',
        '{"prompt": "  "}',
        '{"prompt": "a", "when": "later"}',
        '{"prompt": "a", "interrupt": true}',
        '{"promt": "a"}',
        '{"interrupt": false}',
        '{"command": "/dance"}',
        '{"command": "/compact", "when": "now"}',
        '{"prompt": "\\ud800"}',
        '{"prompt": "unfinished',
    ],
)
def test_a_bad_line_is_answered_and_the_chat_goes_on(stage: Stage, line: str) -> None:
    running = chat(stage)
    running.send("", line, {"prompt": "one"})

    records = running.until("end")

    assert types(records) == ["error", "prompt", "reply", "end"]
    assert list(records[0]) == ["type", "at", "session", "message"]
    assert records[0]["session"] == records[-1]["session"]
    assert records[0]["message"]
    assert leaves(running) == []


def test_a_last_line_needs_no_line_end(stage: Stage) -> None:
    running = chat(stage)
    assert running.process.stdin is not None
    running.process.stdin.write(b'{"prompt": "one"}')

    assert types(leaves(running)) == ["prompt", "reply", "end"]


def test_a_prompt_that_needs_a_word_is_denied_and_that_is_said(stage: Stage) -> None:
    stage.plays(calls("true"), after={"text": "Aye."})
    running = chat(stage)
    running.send({"prompt": "one"})

    assert only(running.until("end"), "tool_result")["ran"] is False
    running.close_input()
    assert "bash: true: denied, since there is no terminal to ask at" in running.end()[2]


# Text from a pipe


def test_lines_of_text_are_messages_one_after_the_other(stage: Stage) -> None:
    ran = stage.run("chat", "--output", "jsonl", stdin="one\n\ntwo\n/context\n/dance\nthree")

    assert ran.status == 0
    assert [record["text"] for record in ran.records if record["type"] == "prompt"] == ["one", "two", "three"]
    assert types(ran.records).count("end") == 3
    assert only(ran.records, "command")["command"] == "/context"
    assert "/dance" in only(ran.records, "error")["message"]


def test_a_file_can_be_the_input(stage: Stage) -> None:
    file = stage.folder / "input"
    file.write_text('{"prompt": "one"}\n')
    with file.open("rb") as stdin:
        argv = stage.arguments("chat", "--input", "jsonl", "--output", "jsonl")
        done = subprocess.run(argv, stdin=stdin, capture_output=True, check=False, env=stage.environment(), start_new_session=True)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 4


def test_a_refused_configuration_ends_a_chat_as_it_ends_a_run(stage: Stage) -> None:
    stage.home.config.write_text("{")

    assert stage.run("chat", "--input", "jsonl").status == 2


def test_commands_among_lines_of_text_are_done_in_their_turn(stage: Stage) -> None:
    ran = stage.run("chat", "--output", "jsonl", stdin="one\n/usage\n/quit\ntwo\n")

    assert ran.status == 0
    assert types(ran.records) == ["session", "prompt", "reply", "end", "command"]
    assert ran.records[-1]["result"]["uses"][0]["requests"] == 1
