"""`treblehook hooks check` on scripts that were written for Claude Code: what of them cannot work here."""

from pathlib import Path

import pytest

from tests.support.command_home import CommandHome

SCRIPTS = Path(__file__).parents[2] / "contracts" / "claude" / "scripts"


def told(home: CommandHome, body: str, event: str = "PreToolUse") -> list[str]:
    """What is found in a script of the claude protocol, without the part that every warning has."""
    home.claude(event, "lookout", body, timeout_ms=1000)
    problems = home.found()
    assert all((p["file"], p["place"], p["level"]) == (str(home.config), "hooks[0]", "warning") for p in problems)
    begin = "lookout cannot work here as it does in Claude Code: it has "
    assert all(p["message"].startswith(begin) for p in problems)
    return [p["message"].removeprefix(begin) for p in problems]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('[ "$tool" = "Write" ] && exit 2', "Write (here write)"),
        ('[[ "$tool" == Edit ]] && exit 2', "Edit (here edit)"),
        ("case $tool in Write|Edit|MultiEdit) exit 2;; esac", "Write (here write), Edit (here edit), MultiEdit (here edit)"),
        ("case $tool in\n  Read) exit 2;;\nesac", "Read (here read)"),
        ("grep -qE '^(Glob|Grep)$' && exit 2", "Glob (here glob), Grep (here grep)"),
        ("if (/^Task$/.test(tool)) stop();", "Task (here agent)"),
        ("jq -r '.tool_input.file_path'", "file_path (here path)"),
        ('target = call["tool_input"].get("file_path", "")', "file_path (here path)"),
        ("print(json.dumps({'updatedInput': {}}))", "updatedInput (ignored)"),
        ('echo \'{"hookSpecificOutput":{"permissionDecision":"ask"}}\'', "the decision ask (a failure)"),
        ('echo "{\\"hookSpecificOutput\\":{\\"permissionDecision\\":\\"ask\\"}}"', "the decision ask (a failure)"),
        ("decide('ask')", "the decision ask (a failure)"),
        ('print(json.dumps({"continue": False}))', "continue: false (ignored)"),
        ('echo "{\\"continue\\": false}"', "continue: false (ignored)"),
    ],
)
def test_each_word_that_means_nothing_here_is_found(home: CommandHome, body: str, found: str) -> None:
    assert told(home, body) == [found]


@pytest.mark.parametrize(
    "body",
    [
        '[ "$tool" = "Bash" ] && exit 2',
        'if tool in ("Write", "write") and ("file_path" in call or "path" in call): stop()',
        "jq -r '.tool_input.file_path // .tool_input.path'",
        "# Read the call, then Write a line; ask nobody. Edit this Task as you like.",
        "echo '{\"continue\": true}'",
        "while true; do continue; done",
    ],
)
def test_what_works_here_is_not_found(home: CommandHome, body: str) -> None:
    assert told(home, body) == []


@pytest.mark.parametrize("body", ["case $last in Write) ;; esac", "echo '\"ask\"'", "jq .file_path"])
def test_words_about_tools_count_only_before_a_tool_call(home: CommandHome, body: str) -> None:
    assert told(home, body, "Stop") == []


def test_continue_false_is_found_at_every_event(home: CommandHome) -> None:
    assert told(home, "echo '{\"continue\": false}'", "Stop") == ["continue: false (ignored)"]


def test_a_script_is_told_once_with_what_to_do(home: CommandHome) -> None:
    home.claude("SessionStart", "lookout", "case $tool in Write) echo '{\"continue\":false}';; esac", timeout_ms=1000)
    home.entry("PreToolUse", "lookout", protocol="claude")

    problem = home.only_problem()

    assert problem["place"] == "hooks[0]"
    assert problem["message"].endswith(": it has Write (here write), continue: false (ignored)")
    assert problem["remedy"] == "only Bash keeps its name, inputs have the names of our tools, and the decisions are allow and deny"


def test_hooks_of_our_own_protocol_and_programs_are_left_alone(home: CommandHome) -> None:
    body = 'case $tool in Write) echo \'{"power":"observe"}\';; esac'
    home.hook("pre_tool_use", "lookout", body, timeout_ms=1000)
    program = home.script("program", body)
    program.write_bytes(b"#!/bin/sh\n\0" + body.encode())
    home.entry("PreToolUse", "program", protocol="claude")

    assert home.found() == []


@pytest.mark.parametrize("script", sorted(SCRIPTS.iterdir()), ids=lambda script: script.name)
def test_scripts_that_work_here_are_left_alone(home: CommandHome, script: Path) -> None:
    home.script("lookout", "").write_bytes(script.read_bytes())
    home.entry("PreToolUse", "lookout", protocol="claude")

    assert [p for p in home.found() if "Claude Code" in p["message"]] == []
