"""`treblehook hooks fire`: one event at real executables, and what became of it."""

import json
from typing import Any

import pytest

from tests.support.command_home import CommandHome, Ran, says

OBSERVE = says({"power": "observe"})


def fire(home: CommandHome, event: str, *options: str) -> Ran:
    """A dry run with JSON lines."""
    return home.run("hooks", "fire", event, *options, "--output", "jsonl")


def outcome(run: Ran) -> dict[str, Any]:
    """The last record."""
    record = run.records[-1]
    assert record["type"] == "outcome"
    return record


def calls(run: Ran) -> list[dict[str, Any]]:
    """The records before the last."""
    assert all(record["type"] == "hook" for record in run.records[:-1])
    return run.records[:-1]


def keeps(home: CommandHome, answer: object = None) -> str:
    """A script that keeps its input in a file beside the home, and answers."""
    said = f"cat <<'END'\n{json.dumps(answer)}\nEND" if answer is not None else ""
    return f"cat > {home.folder.parent}/input\n{said}"


def kept(home: CommandHome) -> str:
    """What such a script was sent."""
    return (home.folder.parent / "input").read_text()


class TestRecords:
    def test_a_call_is_a_hook_record_with_what_the_hook_printed(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", OBSERVE)

        [call] = calls(fire(home, "pre_tool_use", "--session", "s1"))

        assert list(call) == [
            *("type", "at", "session", "event", "contract", "hook", "call", "target", "ended", "decision", "error", "ms", "raw")
        ]
        assert call["ms"] > 0
        call.pop("at")
        call.pop("ms")
        assert call == {
            "type": "hook",
            "session": "s1",
            "event": "pre_tool_use",
            "contract": "vera",
            "hook": "lookout",
            "call": "call_1",
            "target": "bash",
            "ended": "passed",
            "decision": None,
            "error": None,
            "raw": '{"power": "observe"}\n',
        }

    def test_the_outcome_has_its_keys_whatever_it_is(self, home: CommandHome) -> None:
        record = outcome(fire(home, "pre_tool_use"))

        record.pop("at")
        assert record == {
            "type": "outcome",
            "session": "dry-run",
            "event": "ToolProposed",
            "status": "passed",
            "by": None,
            "reason": None,
            "failure": None,
            "decision": None,
            "changed": {},
            "contributions": [],
            "not_asked": [],
        }

    def test_the_payload_is_shown_byte_for_byte_as_it_was_sent(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", keeps(home, {"power": "observe"}))

        [call] = calls(fire(home, "pre_turn", "--prompt", "où est le trésor? \U0001f3f4", "--show-payload"))

        assert call["payload"] == kept(home)
        assert json.loads(call["payload"])["prompt"] == "où est le trésor? \U0001f3f4"

    def test_a_later_hook_s_payload_holds_what_an_earlier_one_made(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "mender", says({"power": "mutate", "input": {"command": "ls"}}))
        home.hook("pre_tool_use", "lookout", keeps(home, {"power": "observe"}))

        first, second = calls(fire(home, "pre_tool_use", "--input", '{"command": "rm x"}', "--show-payload"))

        assert json.loads(first["payload"])["toolCall"]["input"] == {"command": "rm x"}
        assert second["payload"] == kept(home)
        assert json.loads(second["payload"])["toolCall"]["input"] == {"command": "ls"}


class TestVeraPhases:
    def test_session_start_adds_context(self, home: CommandHome) -> None:
        home.hook("session_start", "greeter", says({"power": "mutate", "context": "The crow likes short answers."}))

        run = fire(home, "session_start", "--reason", "resume", "--show-payload")

        assert run.status == 0
        assert json.loads(calls(run)[0]["payload"])["reason"] == "resume"
        assert outcome(run)["status"] == "contributed"
        assert outcome(run)["contributions"] == [
            {"hook": "greeter", "decision": {"type": "add_context", "text": "The crow likes short answers."}}
        ]

    def test_pre_turn_changes_tools_and_adds_context(self, home: CommandHome) -> None:
        answer = {"power": "mutate", "context": "under the third palm", "tools": ["read"], "model": "acme/small"}
        home.hook("pre_turn", "remember", says(answer))

        run = fire(home, "pre_turn", "--prompt", "where is the treasure?", "--show-payload")

        payload = json.loads(calls(run)[0]["payload"])
        assert payload["prompt"] == "where is the treasure?"
        assert {"bash", "read", "write", "edit", "glob", "grep", "agent"} <= set(payload["tools"])
        assert run.status == 0
        assert outcome(run)["status"] == "rewritten"
        assert outcome(run)["changed"] == {"tools": ["read"], "model": "acme/small"}
        assert outcome(run)["contributions"][0]["decision"]["text"] == "under the third palm"

    def test_a_joined_prompt_keeps_its_model(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", says({"power": "mutate", "model": "acme/small"}))

        run = fire(home, "pre_turn", "--joined", "--show-payload")

        assert json.loads(calls(run)[0]["payload"])["arrivedDuringTurn"] is True
        assert outcome(run)["status"] == "passed"

    def test_pre_tool_use_blocks(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "Leave the treasure where it is."}))
        home.hook("pre_tool_use", "later", OBSERVE)

        run = fire(home, "pre_tool_use")

        assert run.status == 3
        record = outcome(run)
        assert (record["status"], record["by"], record["reason"]) == ("blocked", "lookout", "Leave the treasure where it is.")
        assert record["failure"] is None
        assert [(one["hook"], one["why"]) for one in record["not_asked"]] == [("later", "the event was settled before its turn came")]

    def test_pre_tool_use_rewrites_the_input(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "mender", says({"power": "mutate", "input": {"path": "/tmp/b"}}))

        run = fire(home, "pre_tool_use", "--tool", "read", "--input", '{"path": "/tmp/a"}')

        assert run.status == 0
        assert calls(run)[0]["target"] == "read"
        assert (outcome(run)["status"], outcome(run)["changed"]) == ("rewritten", {"input": {"path": "/tmp/b"}})

    def test_pre_tool_use_replaces_the_result(self, home: CommandHome) -> None:
        result = {"content": [{"type": "text", "text": "gone"}], "isError": True}
        home.hook("pre_tool_use", "stand-in", says({"power": "replace", "result": result}))

        run = fire(home, "pre_tool_use")

        assert run.status == 0
        assert (outcome(run)["status"], outcome(run)["by"]) == ("replaced", "stand-in")
        assert outcome(run)["decision"] == {"type": "replace", "content": "gone", "is_error": True}

    def test_post_tool_use_patches_the_result(self, home: CommandHome) -> None:
        patch = {"content": [{"type": "text", "text": "The chest is still there."}], "isError": False}
        home.hook("post_tool_use", "patcher", says({"power": "mutate", "patch": patch}))

        run = fire(home, "post_tool_use", "--result", "rm: no such file", "--is-error", "--show-payload")

        sent = json.loads(calls(run)[0]["payload"])["result"]
        assert (sent["content"], sent["isError"]) == ([{"type": "text", "text": "rm: no such file"}], True)
        assert outcome(run)["changed"] == {"content": "The chest is still there.", "is_error": False}

    def test_turn_ending_continues_the_turn(self, home: CommandHome) -> None:
        home.hook("turn_ending", "map-check", says({"power": "continue", "context": "You said done but drew no map."}))

        run = fire(home, "turn_ending", "--prompt", "draw it", "--reply", "done", "--show-payload")

        payload = json.loads(calls(run)[0]["payload"])
        assert (payload["prompt"], payload["reply"], payload["continuations"]) == ("draw it", "done", 0)
        assert run.status == 0
        assert (outcome(run)["status"], outcome(run)["by"]) == ("answered", "map-check")

    @pytest.mark.parametrize(
        ("phase", "options", "key", "value"),
        [
            ("pre_compact", ["--reason", "automatic"], "reason", "automatic"),
            ("session_end", ["--reason", "idle"], "reason", "idle"),
            ("subagent_finished", ["--result", "found it"], "text", "found it"),
        ],
    )
    def test_observers_are_waited_for(self, home: CommandHome, phase: str, options: list[str], key: str, value: str) -> None:
        home.hook(phase, "one", keeps(home))
        home.hook(phase, "two", "exit 7")

        run = fire(home, phase, *options)

        assert run.status == 0
        assert [(call["hook"], call["ended"], call["error"]) for call in calls(run)] == [
            ("one", "passed", None),
            ("two", "failed", "exited with status 7"),
        ]
        assert json.loads(kept(home))[key] == value
        assert outcome(run)["status"] == "passed"


class TestClaudeEvents:
    def test_pre_tool_use_denies(self, home: CommandHome) -> None:
        home.claude("PreToolUse", "guard", "cat >/dev/null; echo ' Leave it. ' >&2; exit 2")

        run = fire(home, "PreToolUse", "--show-payload")

        assert run.status == 3
        assert json.loads(calls(run)[0]["payload"])["tool_name"] == "Bash"
        assert calls(run)[0]["contract"] == "claude"
        assert (outcome(run)["by"], outcome(run)["reason"]) == ("guard", "Leave it.")

    def test_session_start_adds_plain_text(self, home: CommandHome) -> None:
        home.claude("SessionStart", "greeter", "echo hello")

        run = fire(home, "SessionStart", "--show-payload")

        assert json.loads(calls(run)[0]["payload"])["source"] == "startup"
        assert outcome(run)["contributions"][0]["decision"]["text"] == "hello"

    def test_user_prompt_submit_blocks(self, home: CommandHome) -> None:
        home.claude("UserPromptSubmit", "guard", says({"decision": "block", "reason": "not today"}))

        run = fire(home, "UserPromptSubmit", "--prompt", "hi", "--show-payload")

        assert json.loads(calls(run)[0]["payload"])["prompt"] == "hi"
        assert (run.status, outcome(run)["reason"]) == (3, "not today")

    def test_stop_continues_in_user_sessions_only(self, home: CommandHome) -> None:
        home.claude("Stop", "map-check", "echo 'Draw the map.' >&2; exit 2")

        assert outcome(fire(home, "Stop"))["decision"] == {"type": "continue", "context": "Draw the map."}
        assert calls(fire(home, "Stop", "--spawned")) == []

    def test_subagent_stop_is_fired_in_a_subagent(self, home: CommandHome) -> None:
        home.claude("Stop", "stop", "exit 0")
        home.claude("SubagentStop", "subagent-stop", "exit 0")

        run = fire(home, "SubagentStop", "--session", "sub_1", "--reply", "done", "--show-payload")

        [call] = calls(run)
        payload = json.loads(call["payload"])
        assert (payload["hook_event_name"], payload["agent_id"], payload["last_assistant_message"]) == ("SubagentStop", "sub_1", "done")

    @pytest.mark.parametrize(("event", "key", "value"), [("PreCompact", "trigger", "manual"), ("SessionEnd", "reason", "other")])
    def test_observers_are_waited_for(self, home: CommandHome, event: str, key: str, value: str) -> None:
        home.claude(event, "observer", keeps(home))

        [call] = calls(fire(home, event))

        assert (call["event"], call["ended"]) == (event, "passed")
        assert json.loads(kept(home))[key] == value


class TestFailures:
    def test_a_hook_that_prints_garbage_is_shown_with_its_words(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", "cat >/dev/null; echo oops; echo 'and why' >&2")

        run = fire(home, "pre_tool_use")

        [call] = calls(run)
        assert call["ended"] == "failed"
        assert "did not print one JSON value" in call["error"]
        assert "oops" in call["raw"]
        assert "and why" in call["raw"]
        assert run.status == 3
        record = outcome(run)
        assert (record["status"], record["by"], record["failure"]) == ("blocked", "lookout", call["error"])
        assert record["reason"] == f"pre_tool_use hook lookout failed: {call['error']}"

    def test_a_hook_that_exits_with_a_failure(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", "exit 3")

        run = fire(home, "pre_turn")

        assert (run.status, calls(run)[0]["error"]) == (3, "exited with status 3")

    def test_a_hook_over_its_time_limit(self, home: CommandHome) -> None:
        home.hook("post_tool_use", "first", says({"power": "mutate", "patch": {"content": []}}))
        home.hook("post_tool_use", "slow", "exec sleep 600", timeout_ms=50)
        home.hook("post_tool_use", "later", OBSERVE)

        run = fire(home, "post_tool_use")

        assert [call["ended"] for call in calls(run)] == ["answered", "timed_out"]
        assert run.status == 0
        assert outcome(run)["status"] == "passed"
        assert [(one["hook"], one["why"]) for one in outcome(run)["not_asked"]] == [("later", "slow failed before it")]

    def test_a_hook_that_cannot_be_started(self, home: CommandHome) -> None:
        home.entry("pre_tool_use", "missing")

        run = fire(home, "pre_tool_use")

        assert (run.status, calls(run)[0]["ended"]) == (3, "not_started")
        assert "no such file" in calls(run)[0]["error"]

    def test_a_failed_session_start_hook_changes_nothing(self, home: CommandHome) -> None:
        home.hook("session_start", "one", "exit 1")
        home.hook("session_start", "two", says({"power": "mutate", "context": "hello"}))

        run = fire(home, "session_start")

        assert [call["ended"] for call in calls(run)] == ["failed", "answered"]
        assert run.status == 0


class TestModes:
    def test_a_hook_in_report_mode_is_asked_and_not_obeyed(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "no"}))
        home.settings('[hooks."lookout"]\nmode = "report"\n')

        run = fire(home, "pre_tool_use")

        assert calls(run)[0]["decision"] == {"type": "block", "reason": "no"}
        assert (run.status, outcome(run)["status"]) == (0, "passed")
        assert "[mode report: not obeyed]" in home.run("hooks", "fire", "pre_tool_use").out

    def test_a_hook_that_is_off_is_not_asked(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "no"}))
        home.settings('[hooks."lookout"]\nmode = "off"\n')

        run = fire(home, "pre_tool_use")

        assert run.status == 0
        assert outcome(run)["not_asked"] == [{"hook": "lookout", "event": "pre_tool_use", "contract": "vera", "why": "it is switched off"}]


class TestText:
    def test_a_block_is_told_with_who_and_why(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "Leave it."}))
        home.hook("pre_tool_use", "later", OBSERVE)

        run = home.run("hooks", "fire", "pre_tool_use", "--show-payload")

        assert run.status == 3
        lines = run.out.splitlines()
        assert lines[0].startswith('1. lookout (vera pre_tool_use): answered {"type":"block","reason":"Leave it."}, ')
        assert lines[1].startswith('     was sent: {"type":"pre_tool_use",')
        assert lines[2:] == [
            '     printed: {"power": "block", "reason": "Leave it."}',
            "-. later (vera) was not asked: the event was settled before its turn came",
            "",
            "pre_tool_use is blocked by lookout: Leave it.",
        ]

    def test_a_failure_is_told_as_one(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", "exit 3")

        lines = home.run("hooks", "fire", "UserPromptSubmit").out.splitlines()

        assert lines[0].startswith("1. remember (vera pre_turn): failed: exited with status 3, ")
        assert lines[-1] == "UserPromptSubmit is blocked, because remember failed: exited with status 3"

    def test_rewrites_and_context_are_told(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", says({"power": "mutate", "context": "hello", "model": "acme/small"}))

        lines = home.run("hooks", "fire", "pre_turn").out.splitlines()

        assert lines[-3:] == [
            "pre_turn passes, rewritten",
            '  model is now "acme/small"',
            '  remember adds {"type":"add_context","text":"hello"}',
        ]

    def test_what_a_hook_prints_cannot_drive_the_terminal(self, home: CommandHome) -> None:
        home.hook("post_tool_use", "rude", "cat >/dev/null; printf '\\033]0;mine\\007\\n'; exit 1")

        out = home.run("hooks", "fire", "post_tool_use").out

        assert "\x1b" not in out
        assert "printed: \\x1b]0;mine\\x07" in out

    def test_an_event_that_nobody_is_bound_to_passes(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "pre_tool_use")

        assert run.status == 0
        assert run.out == "No hook is bound to pre_tool_use here.\npre_tool_use passes\n"


class TestUsage:
    def test_an_event_that_nobody_knows_is_wrong_with_the_nearest_name(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "preToolUse")

        assert run.status == 2
        assert "there is no event named 'preToolUse'. Did you mean PreToolUse?" in run.err
        assert "pre_tool_use, post_tool_use" in run.err

    @pytest.mark.parametrize("text", ["{", "[1]", '"x"', '{"a": NaN}', "{'a': 1}"])
    def test_an_input_that_is_no_object_is_wrong(self, home: CommandHome, text: str) -> None:
        run = home.run("hooks", "fire", "pre_tool_use", "--input", text)

        assert run.status == 2
        assert "--input" in run.err
        assert "is no JSON object" in run.err

    def test_a_tool_that_is_not_there_is_wrong_with_the_nearest_name(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "pre_tool_use", "--tool", "Bash")

        assert run.status == 2
        assert "--tool: there is no tool named 'Bash'. Did you mean bash? Allowed: bash, read" in run.err.replace("'--tool'", "--tool")

    def test_a_tool_of_a_configured_server_may_be_named(self, home: CommandHome) -> None:
        home.settings('[mcp."my files"]\ncommand = ["no-such-server"]\n')
        home.hook("pre_tool_use", "lookout", OBSERVE)

        assert calls(fire(home, "pre_tool_use", "--tool", "mcp__my_files__list"))[0]["target"] == "mcp__my_files__list"
        assert fire(home, "pre_tool_use", "--tool", "mcp__other__list").status == 2

    def test_an_option_that_the_event_does_not_take_is_wrong(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "pre_turn", "--tool", "bash")

        assert run.status == 2
        assert "pre_turn does not take it. Allowed here: --input, --prompt, --joined" in run.err

    @pytest.mark.parametrize(("event", "allowed"), [("session_start", "start, resume, compacted"), ("PreCompact", "manual, automatic")])
    def test_a_reason_that_the_event_does_not_know_is_wrong(self, home: CommandHome, event: str, allowed: str) -> None:
        run = home.run("hooks", "fire", event, "--reason", "startup")

        assert run.status == 2
        assert f"found 'startup'. Allowed here: {allowed}" in run.err

    def test_a_configuration_that_does_not_load_is_told(self, home: CommandHome) -> None:
        home.entry("pre_tool", "lookout")

        run = home.run("hooks", "fire", "pre_tool_use")

        assert run.status == 2
        assert "hooks[0].phase" in run.err

    def test_an_argument_that_is_not_utf_8_does_no_harm(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", OBSERVE)

        [call] = calls(fire(home, "pre_turn", "--prompt", "a\udcffb", "--show-payload"))

        assert json.loads(call["payload"])["prompt"] == "a\ufffdb"


class TestNames:
    @pytest.mark.parametrize(
        ("name", "event"),
        [
            ("on_session_start", "session_start"),
            ("on-session-start", "session_start"),
            ("SessionStart", "session_start"),
            ("ToolProposed", "pre_tool_use"),
            ("tool_result", "post_tool_use"),
            ("turn_ending", "turn_ending"),
            ("PromptSubmitted", "pre_turn"),
        ],
    )
    def test_every_contract_s_name_reaches_the_same_hooks(self, home: CommandHome, name: str, event: str) -> None:
        home.hook(event, "hook", OBSERVE)

        assert [call["event"] for call in calls(fire(home, name))] == [event]

    @pytest.mark.parametrize("name", ["pre_tool_call", "on-tool-call", "on-shell", "note:created", "webhook:received", "on-compaction"])
    def test_a_name_whose_contract_has_no_hooks_here_fires_all_the_same(self, home: CommandHome, name: str) -> None:
        home.hook("pre_tool_use", "hook", OBSERVE)

        run = fire(home, name)

        assert (run.status, calls(run), outcome(run)["status"]) == (0, [], "passed")

    def test_fields_of_an_event_without_a_tool_can_be_given(self, home: CommandHome) -> None:
        home.hook("subagent_finished", "observer", keeps(home))

        fire(home, "subagent_finished", "--input", '{"subagent": "sub_7", "background": true, "outcome": "error"}')

        sent = json.loads(kept(home))
        assert (sent["subagentId"], sent["background"], sent["outcome"]) == ("sub_7", True, "error")

    @pytest.mark.parametrize("text", ['{"subagents": "x"}', '{"background": "yes"}'])
    def test_fields_that_the_event_does_not_have_are_wrong(self, home: CommandHome, text: str) -> None:
        run = home.run("hooks", "fire", "subagent_finished", "--input", text)

        assert run.status == 2
        assert "SubagentFinished" in run.err


def test_the_workspace_and_the_session_are_told(home: CommandHome) -> None:
    home.hook("session_start", "greeter", keeps(home, {"power": "observe"}))

    fire(home, "session_start", "--session", "s9", "--workspace", str(home.hooks))

    sent = json.loads(kept(home))
    assert (sent["sessionId"], sent["workspace"]) == ("s9", str(home.hooks))


def test_a_dry_run_writes_nothing(home: CommandHome) -> None:
    home.hook("session_start", "one", "exit 1")
    home.hook("session_end", "two", "exit 1")
    home.settings('[mcp.files]\ncommand = ["touch", "ran"]\n')
    before = home.everything()

    fire(home, "session_start")
    fire(home, "session_end")

    assert home.everything() == before
