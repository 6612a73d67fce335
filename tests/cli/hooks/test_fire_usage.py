"""`treblehook hooks fire`: what is said of an event, and what cannot be said."""

import json

import pytest

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})


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

        assert home.fire("pre_tool_use", "--tool", "mcp__my_files__list").calls[0]["target"] == "mcp__my_files__list"
        assert home.fire("pre_tool_use", "--tool", "mcp__other__list").status == 2

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

        [call] = home.fire("pre_turn", "--prompt", "a\udcffb", "--show-payload").calls

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

        assert [call["event"] for call in home.fire(name).calls] == [event]

    @pytest.mark.parametrize("name", ["pre_tool_call", "on-tool-call", "on-shell", "note:created", "webhook:received", "on-compaction"])
    def test_a_name_whose_contract_has_no_hooks_here_fires_all_the_same(self, home: CommandHome, name: str) -> None:
        home.hook("pre_tool_use", "hook", OBSERVE)

        run = home.fire(name)

        assert (run.status, run.calls, run.outcome["status"]) == (0, [], "passed")

    def test_fields_of_an_event_without_a_tool_can_be_given(self, home: CommandHome) -> None:
        home.hook("subagent_finished", "observer", home.keeps_input())

        home.fire("subagent_finished", "--input", '{"subagent": "sub_7", "background": true, "outcome": "error"}')

        sent = json.loads(home.kept_input())
        assert (sent["subagentId"], sent["background"], sent["outcome"]) == ("sub_7", True, "error")

    @pytest.mark.parametrize("text", ['{"subagents": "x"}', '{"background": "yes"}'])
    def test_fields_that_the_event_does_not_have_are_wrong(self, home: CommandHome, text: str) -> None:
        run = home.run("hooks", "fire", "subagent_finished", "--input", text)

        assert run.status == 2
        assert "SubagentFinished" in run.err


class TestCommands:
    def test_a_tool_that_runs_no_command_has_no_shell_event(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "on-shell", "--tool", "read")

        assert run.status == 2
        assert "read runs no command. Allowed: bash" in run.err

    def test_an_input_that_is_no_command_has_no_shell_event(self, home: CommandHome) -> None:
        run = home.run("hooks", "fire", "ShellGate", "--input", "{}")

        assert run.status == 2
        assert "--input" in run.err
        assert "command" in run.err
