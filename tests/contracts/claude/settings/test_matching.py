"""Whom a hook is for: matchers and `if`."""

from pathlib import Path

import pytest

from tests.support.settings_rig import SettingsRig
from treblehook.contracts.claude.settings.matching import Condition, Matcher, condition, path_matches
from treblehook.home.claude_settings import may_run
from treblehook.lifecycle import Block, CompactionStarting, SessionEnd, SessionStart, ToolCall


@pytest.mark.parametrize(
    ("matcher", "word", "expected"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Edit , Write", "Edit", True),
        ("Edit|Write", "NotebookEdit", False),
        ("Edit.*", "NotebookEdit", True),
        ("^Edit$", "NotebookEdit", False),
        ("mcp__sea", "mcp__sea__ask", False),
        ("mcp__brave-sea", "mcp__brave-sea__ask", False),
        ("mcp__sea__.*", "mcp__sea__ask", True),
        ("mcp__.*__write.*", "mcp__sea__write_map", True),
        ("(?<tool>Re)ad", "Read", True),
        (r"\w+", "é", False),
        (".*", "Bash", True),
    ],
)
def test_a_matcher(matcher: str, word: str, expected: bool) -> None:
    assert Matcher(matcher).matches([word]) is expected


def test_a_matcher_that_is_no_expression() -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        Matcher("Bash(")


@pytest.mark.parametrize("matcher", ["Agent", "Task"])
async def test_a_subagent_tool_has_its_old_name_too(rig: SettingsRig, matcher: str) -> None:
    rig.hook("PreToolUse", "exit 2", matcher=matcher)

    assert isinstance((await rig.proposed("agent", task="dig")).decision, Block)


async def test_what_a_matcher_of_each_event_looks_at(rig: SettingsRig) -> None:
    for event, matcher in (("SessionStart", "resume|compact"), ("PreCompact", "auto"), ("SessionEnd", "other"), ("SessionEnd", "clear")):
        rig.records(event, f"log-{matcher[:5]}", matcher=matcher)
    rig.records("Stop", "log-stop", matcher="whatever")

    for reason in ("start", "resume", "compacted"):
        await rig.fire(SessionStart(reason=reason, **rig.facts))  # type: ignore[arg-type]
    for trigger in ("manual", "automatic"):
        await rig.fire(CompactionStarting(reason=trigger, tokens=1, **rig.facts))  # type: ignore[arg-type]
    await rig.fire(SessionEnd(reason="closed", **rig.facts))
    await rig.ending()

    assert [payload["source"] for payload in rig.sent("log-resum")] == ["resume", "compact"]
    assert [payload["trigger"] for payload in rig.sent("log-auto")] == ["auto"]
    assert [len(rig.sent(f"log-{name}")) for name in ("other", "clear", "stop")] == [1, 0, 1]


def holds(rule: str, tool: str, **given: str) -> bool:
    return condition(rule).holds(ToolCall("call_1", tool, dict(given)), "/deck", may_run)


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash(git *)", "git push", True),
        ("Bash(git *)", "git", True),
        ("Bash(git *)", "ls", False),
        ("Bash(git *)", "legit x", False),
        ("Bash(git push *)", "FOO=bar git push origin", True),
        ("Bash(git push *)", "npm test && git push origin", True),
        ("Bash(git:*)", "git push", True),
        ("Bash( git  push *)", "git push origin", True),
        ("Bash(rm *)", "echo $(rm x)", True),
        ("Bash(git *)", "$(which git) push", True),
        ("Bash(git *)", "if ((", True),
        ("Bash", "ls", True),
        ("Bash(*)", "ls", True),
    ],
)
def test_a_condition_on_a_command(rule: str, command: str, expected: bool) -> None:
    assert holds(rule, "bash", command=command) is expected


@pytest.mark.parametrize(
    ("rule", "tool", "path", "expected"),
    [
        ("Edit(*.ts)", "edit", "src/a.ts", True),
        ("Edit(*.ts)", "write", "/deck/a.ts", True),
        ("Edit(*.ts)", "edit", "a.py", False),
        ("Edit(*.ts)", "read", "a.ts", False),
        ("Edit(*.ts)", "edit", "/elsewhere/a.ts", True),
        ("Edit(**/*.ts)", "edit", "../elsewhere/a.ts", True),
        ("Read(**/keys/**)", "read", "/elsewhere/keys/id", True),
        ("Edit(a.ts)", "edit", "/elsewhere/a.ts", False),
        ("Edit(a*)", "edit", "/elsewhere/a.ts", False),
        ("Edit(./**)", "edit", "/elsewhere/a.ts", False),
        ("Edit(*/a.ts)", "edit", "src/a.ts", True),
        ("Edit(SRC/*.TS)", "edit", "src/a.ts", True),
        ("Read(//ETC/*)", "read", "/etc/passwd", True),
        ("Write(*.ts)", "edit", "a.ts", False),
        ("Read(./.env)", "read", ".env", True),
        ("Read(.env)", "read", "deep/.env", True),
        ("Read(src/**)", "read", "src/a/b", True),
        ("Read(src/**)", "grep", "src/a", True),
        ("Read(/src)", "read", "src/a/b", True),
        ("Read(//etc/*)", "read", "/etc/passwd", True),
        ("Read(~/.ssh/**)", "read", "~/.ssh/id", True),
        ("Read(src/**)", "read", "a/../src/b", True),
    ],
)
def test_a_condition_on_a_file(rule: str, tool: str, path: str, expected: bool) -> None:
    assert holds(rule, tool, path=path) is expected


@pytest.mark.parametrize(
    ("rule", "tool", "expected"),
    [
        ("mcp__sea__ask", "mcp__sea__ask", True),
        ("mcp__sea__*", "mcp__sea__ask", True),
        ("mcp__sea__ask(*)", "mcp__sea__ask", True),
        ("mcp__sea__ask()", "mcp__sea__ask", True),
        ("mcp__sea", "mcp__sea__ask", False),
        ("*", "anything", True),
        ("Agent(general-purpose)", "agent", True),
        ("Agent(Explore)", "agent", False),
        ("Bash(git *)", "read", False),
    ],
)
def test_a_condition_on_another_tool(rule: str, tool: str, expected: bool) -> None:
    assert holds(rule, tool, text="x") is expected


@pytest.mark.parametrize("rule", ["", "Bash(git *", "WebFetch(domain:example.com)", "Skill(x)", "mcp__sea__ask(x)", "Bash(a) && Read(b)"])
def test_a_condition_that_never_holds_is_told(rule: str) -> None:
    with pytest.raises(ValueError, match="is "):
        assert condition(rule) is None


async def test_a_condition_keeps_a_hook_from_running(rig: SettingsRig) -> None:
    rig.hook("PreToolUse", "exit 2", **{"if": "Bash(rm *)"})

    assert (await rig.proposed(command="ls")).decision is None
    assert rig.calls == []
    assert isinstance((await rig.proposed(command="cd /tmp; rm -r x")).decision, Block)


def test_a_condition_is_a_value() -> None:
    assert condition(" Edit(*.ts) ") == Condition("Edit", "*.ts")


def test_a_name_matches_at_any_depth_and_with_what_is_in_it() -> None:
    assert path_matches("build", "/deck/a/build/x/y", "/deck")
    assert not path_matches("build", str(Path("/deck/a/builder")), "/deck")
