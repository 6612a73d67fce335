"""`treblehook hooks fire`: every phase of executables, and every Claude event."""

import json

import pytest

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})


class TestVeraPhases:
    def test_session_start_adds_context(self, home: CommandHome) -> None:
        home.hook("session_start", "greeter", says({"power": "mutate", "context": "The crow likes short answers."}))

        run = home.fire("session_start", "--reason", "resume", "--show-payload")

        assert run.status == 0
        assert json.loads(run.calls[0]["payload"])["reason"] == "resume"
        assert run.outcome["status"] == "contributed"
        assert run.outcome["contributions"] == [
            {"hook": "greeter", "decision": {"type": "add_context", "text": "The crow likes short answers."}}
        ]

    def test_pre_turn_changes_tools_and_adds_context(self, home: CommandHome) -> None:
        answer = {"power": "mutate", "context": "under the third palm", "tools": ["read"], "model": "acme/small"}
        home.hook("pre_turn", "remember", says(answer))

        run = home.fire("pre_turn", "--prompt", "where is the treasure?", "--show-payload")

        payload = json.loads(run.calls[0]["payload"])
        assert payload["prompt"] == "where is the treasure?"
        assert {"bash", "read", "write", "edit", "glob", "grep", "agent"} <= set(payload["tools"])
        assert run.status == 0
        assert run.outcome["status"] == "rewritten"
        assert run.outcome["changed"] == {"tools": ["read"], "model": "acme/small"}
        assert run.outcome["contributions"][0]["decision"]["text"] == "under the third palm"

    def test_a_joined_prompt_keeps_its_model(self, home: CommandHome) -> None:
        home.hook("pre_turn", "remember", says({"power": "mutate", "model": "acme/small"}))

        run = home.fire("pre_turn", "--joined", "--show-payload")

        assert json.loads(run.calls[0]["payload"])["arrivedDuringTurn"] is True
        assert run.outcome["status"] == "passed"

    def test_pre_tool_use_blocks(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "lookout", says({"power": "block", "reason": "Leave the treasure where it is."}))
        home.hook("pre_tool_use", "later", OBSERVE)

        run = home.fire("pre_tool_use")

        assert run.status == 3
        record = run.outcome
        assert (record["status"], record["by"], record["reason"]) == ("blocked", "lookout", "Leave the treasure where it is.")
        assert record["failure"] is None
        assert [(one["hook"], one["why"]) for one in record["not_asked"]] == [("later", "the event was settled before its turn came")]

    def test_pre_tool_use_rewrites_the_input(self, home: CommandHome) -> None:
        home.hook("pre_tool_use", "mender", says({"power": "mutate", "input": {"path": "/tmp/b"}}))

        run = home.fire("pre_tool_use", "--tool", "read", "--input", '{"path": "/tmp/a"}')

        assert run.status == 0
        assert run.calls[0]["target"] == "read"
        assert (run.outcome["status"], run.outcome["changed"]) == ("rewritten", {"input": {"path": "/tmp/b"}})

    def test_pre_tool_use_replaces_the_result(self, home: CommandHome) -> None:
        result = {"content": [{"type": "text", "text": "gone"}], "isError": True}
        home.hook("pre_tool_use", "stand-in", says({"power": "replace", "result": result}))

        run = home.fire("pre_tool_use")

        assert run.status == 0
        assert (run.outcome["status"], run.outcome["by"]) == ("replaced", "stand-in")
        assert run.outcome["decision"] == {"type": "replace", "content": "gone", "is_error": True}

    def test_post_tool_use_patches_the_result(self, home: CommandHome) -> None:
        patch = {"content": [{"type": "text", "text": "The chest is still there."}], "isError": False}
        home.hook("post_tool_use", "patcher", says({"power": "mutate", "patch": patch}))

        run = home.fire("post_tool_use", "--result", "rm: no such file", "--is-error", "--show-payload")

        sent = json.loads(run.calls[0]["payload"])["result"]
        assert (sent["content"], sent["isError"]) == ([{"type": "text", "text": "rm: no such file"}], True)
        assert run.outcome["changed"] == {"content": "The chest is still there.", "is_error": False}

    def test_turn_ending_continues_the_turn(self, home: CommandHome) -> None:
        home.hook("turn_ending", "map-check", says({"power": "continue", "context": "You said done but drew no map."}))

        run = home.fire("turn_ending", "--prompt", "draw it", "--reply", "done", "--show-payload")

        payload = json.loads(run.calls[0]["payload"])
        assert (payload["prompt"], payload["reply"], payload["continuations"]) == ("draw it", "done", 0)
        assert run.status == 0
        assert (run.outcome["status"], run.outcome["by"]) == ("answered", "map-check")

    @pytest.mark.parametrize(
        ("phase", "options", "key", "value"),
        [
            ("pre_compact", ["--reason", "automatic"], "reason", "automatic"),
            ("session_end", ["--reason", "idle"], "reason", "idle"),
            ("subagent_finished", ["--result", "found it"], "text", "found it"),
        ],
    )
    def test_observers_are_waited_for(self, home: CommandHome, phase: str, options: list[str], key: str, value: str) -> None:
        home.hook(phase, "one", home.keeps_input())
        home.hook(phase, "two", "exit 7")

        run = home.fire(phase, *options)

        assert run.status == 0
        assert [(call["hook"], call["ended"], call["error"]) for call in run.calls] == [
            ("one", "passed", None),
            ("two", "failed", "exited with status 7"),
        ]
        assert json.loads(home.kept_input())[key] == value
        assert run.outcome["status"] == "passed"


class TestClaudeEvents:
    def test_pre_tool_use_denies(self, home: CommandHome) -> None:
        home.claude("PreToolUse", "guard", "cat >/dev/null; echo ' Leave it. ' >&2; exit 2")

        run = home.fire("PreToolUse", "--show-payload")

        assert run.status == 3
        assert json.loads(run.calls[0]["payload"])["tool_name"] == "Bash"
        assert run.calls[0]["contract"] == "claude"
        assert (run.outcome["by"], run.outcome["reason"]) == ("guard", "Leave it.")

    def test_session_start_adds_plain_text(self, home: CommandHome) -> None:
        home.claude("SessionStart", "greeter", "echo hello")

        run = home.fire("SessionStart", "--show-payload")

        assert json.loads(run.calls[0]["payload"])["source"] == "startup"
        assert run.outcome["contributions"][0]["decision"]["text"] == "hello"

    def test_user_prompt_submit_blocks(self, home: CommandHome) -> None:
        home.claude("UserPromptSubmit", "guard", says({"decision": "block", "reason": "not today"}))

        run = home.fire("UserPromptSubmit", "--prompt", "hi", "--show-payload")

        assert json.loads(run.calls[0]["payload"])["prompt"] == "hi"
        assert (run.status, run.outcome["reason"]) == (3, "not today")

    def test_stop_continues_in_user_sessions_only(self, home: CommandHome) -> None:
        home.claude("Stop", "map-check", "echo 'Draw the map.' >&2; exit 2")

        assert home.fire("Stop").outcome["decision"] == {"type": "continue", "context": "Draw the map."}
        assert home.fire("Stop", "--spawned").calls == []

    def test_subagent_stop_is_fired_in_a_subagent(self, home: CommandHome) -> None:
        home.claude("Stop", "stop", "exit 0")
        home.claude("SubagentStop", "subagent-stop", "exit 0")

        run = home.fire("SubagentStop", "--session", "sub_1", "--reply", "done", "--show-payload")

        [call] = run.calls
        payload = json.loads(call["payload"])
        assert (payload["hook_event_name"], payload["agent_id"], payload["last_assistant_message"]) == ("SubagentStop", "sub_1", "done")

    @pytest.mark.parametrize(("event", "key", "value"), [("PreCompact", "trigger", "manual"), ("SessionEnd", "reason", "other")])
    def test_observers_are_waited_for(self, home: CommandHome, event: str, key: str, value: str) -> None:
        home.claude(event, "observer", home.keeps_input())

        [call] = home.fire(event).calls

        assert (call["event"], call["ended"]) == (event, "passed")
        assert json.loads(home.kept_input())[key] == value
