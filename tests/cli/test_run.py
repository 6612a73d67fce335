"""`treblehook run`: the prompt, the flags, the exit status of every end but interruption."""

import json
import subprocess

from tests.support.command_home import says
from tests.support.command_run import Stage, calls, only


def ends(stage: Stage, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Exit status, status and reason of a run that writes JSON lines."""
    ran = stage.run("run", *arguments, "--output", "jsonl", stdin=stdin)
    assert ran.records[-1]["type"] == "end", ran
    return ran.status, ran.records[-1]["status"], ran.records[-1]["reason"]


# The prompt


def test_the_prompt_is_the_argument(stage: Stage) -> None:
    ran = stage.run("run", "where is it?", "--output", "jsonl", stdin="something else")

    assert only(ran.records, "prompt")["text"] == "where is it?"


def test_without_an_argument_the_prompt_is_standard_input(stage: Stage) -> None:
    ran = stage.run("run", "--output", "jsonl", stdin="where\nis it?\n")

    assert only(ran.records, "prompt")["text"] == "where\nis it?"


def test_no_prompt_at_all_is_wrong_usage(stage: Stage) -> None:
    for ran in (stage.run("run"), stage.run("run", stdin=" \n"), stage.run("run", "  ")):
        assert ran.status == 2
        assert ran.out == ""
        assert "there is no prompt" in ran.err
        assert "Traceback" not in ran.err
    assert stage.sessions() == []


def test_a_prompt_that_is_no_text_is_sent_without_what_is_none(stage: Stage) -> None:
    ran = stage.run("run", "hol\udce9", "--output", "jsonl")

    assert ran.status == 0, ran
    assert only(ran.records, "prompt")["text"] == "hol\ufffd"


# Exit statuses


def test_0_when_finished(stage: Stage) -> None:
    stage.plays({"text": "Under the third palm."})

    assert ends(stage, "where?") == (0, "finished", "")


def test_1_when_the_model_fails(stage: Stage) -> None:
    stage.plays({"status": 400, "error": "no such island"})

    status, how, why = ends(stage, "where?")

    assert (status, how) == (1, "failed")
    assert why.endswith("HTTP 400: no such island")


def test_1_when_the_session_file_cannot_be_written(stage: Stage) -> None:
    (stage.home.folder / "sessions").write_text("in the way")

    ran = stage.run("run", "where?")

    assert ran.status == 1
    assert ran.err.count("\n") == 1
    assert "sessions" in ran.err


def test_1_when_the_session_file_cannot_be_written_any_more(stage: Stage) -> None:
    stage.home.hook("session_end", "logbook", f"cat >/dev/null; : > {stage.folder}/closed; echo '{{}}'")
    stage.plays(calls("seq 1 10000"), {"text": "Done."})
    command = ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh", *stage.arguments("run", "dig", "--approve", "always", "--output", "jsonl")]

    done = subprocess.run(command, capture_output=True, text=True, check=False, env=stage.environment(), start_new_session=True)

    last = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert (last["type"], last["status"]) == ("end", "failed")
    assert last["reason"].endswith("File too large")
    assert done.stderr == f"error: {last['reason']}\n"
    assert (stage.folder / "closed").exists()


def test_2_for_a_configuration_that_does_not_load(stage: Stage) -> None:
    stage.home.hook("pre_tool_use", "guard", "true", timeout_ms=-1)
    stage.home.hook("post_tool", "other", "true")

    ran = stage.run("run", "where?")

    assert ran.status == 2
    assert ran.out == ""
    first, second = ran.err.splitlines()
    assert first.startswith(f"error: {stage.home.config}: hooks[0].timeout_ms: ")
    assert second.startswith(f"error: {stage.home.config}: hooks[1].phase: ")
    assert stage.sessions() == []


def test_2_for_a_hook_over_its_limits_at_session_start(stage: Stage) -> None:
    stage.home.hook("session_end", "guard", "true", timeout_ms=30_001)

    ran = stage.run("run", "where?")

    assert ran.status == 2
    assert "hooks[0].timeout_ms" in ran.err


def test_2_for_what_cannot_be_opened(stage: Stage) -> None:
    cases = {
        ("--model", "oracle:delphi"): "oracle",
        ("--model", "script:/nowhere.json"): "/nowhere.json",
        ("--workspace", "/nowhere"): "/nowhere",
        ("--resume", "ses_00"): "ses_00",
        ("--home", str(stage.model)): str(stage.model),
    }
    for arguments, named in cases.items():
        ran = stage.run("run", "where?", *arguments)
        assert (ran.status, ran.out) == (2, ""), arguments
        assert named in ran.err
        assert "Traceback" not in ran.err


def test_2_for_wrong_usage(stage: Stage) -> None:
    for arguments in (["--bare", "--prompt-only"], ["--approve", "maybe"], ["--output", "xml"], ["--nothing"], ["one", "two"]):
        ran = stage.run("run", *arguments)
        assert ran.status == 2, arguments
        assert ran.err.startswith("Usage: treblehook run"), ran.err


def test_2_where_no_model_is_named(stage: Stage) -> None:
    ran = stage.bare("run", "where?", "--home", str(stage.home.folder))

    assert ran.status == 2
    assert "config.toml: model.default" in ran.err


def test_3_when_a_hook_blocks_the_prompt(stage: Stage) -> None:
    stage.home.hook("pre_turn", "silence", says({"power": "block", "reason": "not on a Sunday"}))

    assert ends(stage, "where?") == (3, "blocked", "not on a Sunday")


def test_3_when_a_failed_hook_blocks_the_prompt(stage: Stage) -> None:
    stage.home.hook("pre_turn", "broken", "exit 7")

    assert ends(stage, "where?")[:2] == (3, "blocked")


def test_an_input_that_is_closed_from_the_start_is_an_empty_one(stage: Stage) -> None:
    for arguments, status in ((["run"], 2), (["chat"], 0), (["chat", "--input", "jsonl"], 0)):
        command = ["sh", "-c", 'exec "$@" <&-', "sh", *stage.arguments(*arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=stage.environment(), start_new_session=True)
        assert (done.returncode, done.stdout) == (status, ""), done
        assert "Traceback" not in done.stderr


def test_an_output_that_is_closed_from_the_start_is_no_failure(stage: Stage) -> None:
    for output in ("text", "jsonl"):
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *stage.arguments("run", "dig", "--output", output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=stage.environment(), start_new_session=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Flags


def test_the_home_is_named_by_the_environment_too(stage: Stage) -> None:
    stage.home.hook("pre_turn", "silence", says({"power": "block", "reason": "no"}))

    ran = stage.bare("run", "where?", "--model", f"script:{stage.model}", TREBLEHOOK_HOME=str(stage.home.folder))

    assert ran.status == 3


def test_a_named_home_that_is_not_there_is_said(stage: Stage) -> None:
    for flags, environment in ((["--home", "/nowhere/home"], {}), ([], {"TREBLEHOOK_HOME": "/nowhere/home"})):
        ran = stage.bare("run", "where?", *flags, "--model", "script:/nowhere.json", **environment)
        assert ran.err.startswith("warning: /nowhere/home: there is no such folder yet")


def test_the_default_home_is_below_the_users_own(stage: Stage) -> None:
    ran = stage.bare("run", "where?", "--model", f"script:{stage.model}")

    assert ran.status == 0
    assert len(list((stage.folder / ".treblehook" / "sessions").glob("*.jsonl"))) == 1


def test_the_workspace_is_the_current_folder_unless_named(stage: Stage) -> None:
    stage.plays(calls("pwd"))

    ran = stage.bare(
        "run", "?", "--home", str(stage.home.folder), "--model", f"script:{stage.model}", "--approve", "always", "--output", "jsonl"
    )

    assert only(ran.records, "tool_result")["content"].strip() == str(stage.workspace)


def test_a_session_is_resumed_with_its_model_and_workspace(stage: Stage) -> None:
    stage.plays({"text": "one"}, {"text": "two"})
    first = stage.run("run", "begin", "--output", "jsonl")
    session = first.records[0]["session"]

    ran = stage.bare("run", "go on", "--home", str(stage.home.folder), "--resume", session[:-1], "--output", "jsonl")

    assert ran.records[0] | {"at": ""} == {
        "type": "session",
        "at": "",
        "session": session,
        "id": session,
        "parent": None,
        "workspace": str(stage.workspace),
        "model": f"script:{stage.model}",
        "reason": "resume",
    }
    assert only(ran.records, "reply")["text"] == "two"
    assert len(stage.sessions()) == 1


def test_bare_and_prompt_only_ask_no_hook(stage: Stage) -> None:
    stage.home.hook("pre_turn", "silence", says({"power": "block", "reason": "no"}))
    stage.plays(calls("echo hi"), aux=None)

    bare = stage.run("run", "where?", "--bare", "--approve", "always", "--output", "jsonl")
    only_prompt = stage.run("run", "where?", "--prompt-only", "--approve", "always", "--output", "jsonl")

    assert (bare.status, only_prompt.status) == (0, 0)
    assert only(bare.records, "tool_result")["ran"] is True
    assert "no tool named 'bash'" in only(only_prompt.records, "tool_result")["content"]
    assert not [record for record in bare.records + only_prompt.records if record["type"] == "hook"]


def test_lua_of_a_workspace_is_held_back_and_that_is_said(stage: Stage) -> None:
    script = stage.workspace / ".crucible" / "lua" / "init.lua"
    script.parent.mkdir(parents=True)
    script.write_text('cru.notify("the workspace speaks")')

    def said() -> tuple[bool, bool]:
        ran = stage.run("run", "where?")
        assert ran.status == 0
        return f"{script.parent}: held back, it does not run" in ran.err, "the workspace speaks" in ran.out + ran.err

    assert [said(), said()] == [(True, False), (True, False)]
    trusting = stage.run("run", "where?", "--trust")
    assert ("held back" in trusting.err, "the workspace speaks" in trusting.out + trusting.err) == (False, True)
    assert said() == (False, True)
    with script.open("a") as file:
        file.write("\n")
    assert said() == (True, False)


def test_background_subagents_are_waited_for_and_delivered(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        {"text": "The scout is back."},
        routes=[{"match": "dig here", "turns": [{"text": "found it", "delay": 0.2}]}],
    )

    ran = stage.run("run", "where?", "--approve", "always", "--output", "jsonl")

    session = ran.records[0]["session"]
    replies = [(record["session"] == session, record["text"]) for record in ran.records if record["type"] == "reply"]
    assert ran.status == 0
    assert (False, "found it") in replies
    assert [text for own, text in replies if own] == ["I wait.", "The scout is back."]
    assert (ran.records[-1]["type"], ran.records[-1]["session"]) == ("end", session)


def test_a_delivery_turn_that_fails_is_a_failure(stage: Stage) -> None:
    stage.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig here", "background": True}}]},
        {"text": "I wait."},
        {"status": 400, "error": "too late"},
        routes=[{"match": "dig here", "turns": [{"text": "found it", "delay": 0.2}]}],
    )

    assert stage.run("run", "where?", "--approve", "always").status == 1
