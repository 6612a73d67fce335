"""`treblehook hooks fire`: one event at real executables, and what is shown of it."""

import json

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})


class TestRecords:
    def test_a_call_is_a_hook_record_with_what_the_hook_printed(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", OBSERVE)

        [call] = home.fire("pre_tool_use", "--session", "s1").calls

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
        record = home.fire("pre_tool_use").outcome

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
        home.hook("pre_turn", "remember", home.keeps_input({"power": "observe"}))

        [call] = home.fire("pre_turn", "--prompt", "où est le trésor? \U0001f3f4", "--show-payload").calls

        assert call["payload"] == home.kept_input()
        assert json.loads(call["payload"])["prompt"] == "où est le trésor? \U0001f3f4"

    def test_a_later_hook_s_payload_holds_what_an_earlier_one_made(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "mender", says({"power": "mutate", "input": {"command": "ls"}}))
        home.hook("pre_tool_use", "lookout", home.keeps_input({"power": "observe"}))

        first, second = home.fire("pre_tool_use", "--input", '{"command": "rm x"}', "--show-payload").calls

        assert json.loads(first["payload"])["toolCall"]["input"] == {"command": "rm x"}
        assert second["payload"] == home.kept_input()
        assert json.loads(second["payload"])["toolCall"]["input"] == {"command": "ls"}


class TestFailures:
    def test_a_hook_that_prints_garbage_is_shown_with_its_words(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", "cat >/dev/null; echo oops; echo 'and why' >&2")

        run = home.fire("pre_tool_use")

        [call] = run.calls
        assert call["ended"] == "failed"
        assert "did not print one JSON value" in call["error"]
        assert "oops" in call["raw"]
        assert "and why" in call["raw"]
        assert run.status == 3
        record = run.outcome
        assert (record["status"], record["by"], record["failure"]) == ("blocked", "lookout", call["error"])
        assert record["reason"] == f"pre_tool_use hook lookout failed: {call['error']}"

    def test_a_hook_that_exits_with_a_failure(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", "exit 3")

        run = home.fire("pre_turn")

        assert (run.status, run.calls[0]["error"]) == (3, "exited with status 3")

    def test_a_hook_over_its_time_limit(self, home: CommandHome) -> None:
        home.hook("post_tool_use", "first", says({"power": "mutate", "patch": {"content": []}}))
        home.hook("post_tool_use", "slow", "exec sleep 600", timeout_ms=50)
        home.hook("post_tool_use", "later", OBSERVE)

        run = home.fire("post_tool_use")

        assert [call["ended"] for call in run.calls] == ["answered", "timed_out"]
        assert run.status == 0
        assert run.outcome["status"] == "passed"
        assert [(one["hook"], one["why"]) for one in run.outcome["not_asked"]] == [("later", "slow failed before it")]

    def test_a_hook_that_cannot_be_started(self, home: CommandHome) -> None:
        home.entry("pre_tool_use", "missing")

        run = home.fire("pre_tool_use")

        assert (run.status, run.calls[0]["ended"]) == (3, "not_started")
        assert "no such file" in run.calls[0]["error"]

    def test_a_failed_session_start_hook_changes_nothing(self, home: CommandHome) -> None:
        home.hook("session_start", "one", "exit 1")
        home.hook("session_start", "two", says({"power": "mutate", "context": "hello"}))

        run = home.fire("session_start")

        assert [call["ended"] for call in run.calls] == ["failed", "answered"]
        assert run.status == 0


class TestModes:
    def test_a_hook_in_report_mode_is_asked_and_not_obeyed(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "no"}))
        home.settings('[hooks."lookout"]\nmode = "report"\n')

        run = home.fire("pre_tool_use")

        assert run.calls[0]["decision"] == {"type": "block", "reason": "no"}
        assert (run.status, run.outcome["status"]) == (0, "passed")
        assert "[mode report: not obeyed]" in home.run("hooks", "fire", "pre_tool_use").out

    def test_a_hook_that_is_off_is_not_asked(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "no"}))
        home.settings('[hooks."lookout"]\nmode = "off"\n')

        run = home.fire("pre_tool_use")

        assert run.status == 0
        assert run.outcome["not_asked"] == [{"hook": "lookout", "event": "pre_tool_use", "contract": "vera", "why": "it is switched off"}]


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
            "-  later (vera pre_tool_use) was not asked: the event was settled before its turn came",
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


def test_the_workspace_and_the_session_are_told(home: CommandHome) -> None:
    home.hook("session_start", "greeter", home.keeps_input({"power": "observe"}))

    home.fire("session_start", "--session", "s9", "--workspace", str(home.hooks))

    sent = json.loads(home.kept_input())
    assert (sent["sessionId"], sent["workspace"]) == ("s9", str(home.hooks))


def test_a_dry_run_writes_nothing(home: CommandHome) -> None:
    home.hook("session_start", "one", "exit 1")
    home.hook("session_end", "two", "exit 1")
    home.settings('[mcp.files]\ncommand = ["touch", "ran"]\n')
    before = home.everything()

    home.fire("session_start")
    home.fire("session_end")

    assert home.everything() == before
