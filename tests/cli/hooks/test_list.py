"""`treblehook hooks list`: every handler in the order in which it would run."""

import re

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})
KEYS = [
    *("order", "event", "contract", "hook", "file", "line", "tier", "priority", "pattern"),
    *("timeout_ms", "lane", "on_failure", "mode", "held_back"),
]


def test_a_record_has_exactly_the_promised_keys(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE, timeout_ms=2500)

    run = home.run("hooks", "list", "--output", "jsonl")

    assert run.status == 0
    [record] = run.records
    assert list(record) == KEYS
    assert record == {
        "order": 1,
        "event": "pre_tool_use",
        "contract": "vera",
        "hook": "lookout",
        "file": str(home.hooks / "lookout"),
        "line": None,
        "tier": "config",
        "priority": 100,
        "pattern": None,
        "timeout_ms": 2500,
        "lane": "vera",
        "on_failure": "closed",
        "mode": "on",
        "held_back": None,
    }


def test_events_stand_in_the_order_of_a_life_and_hooks_in_list_order(home: CommandHome) -> None:
    for phase in ("session_end", "subagent_finished", "turn_ending", "post_tool_use", "pre_tool_use", "pre_compact", "pre_turn"):
        home.hook(phase, f"late-{phase}", OBSERVE)
    home.hook("pre_tool_use", "second", OBSERVE)
    home.hook("session_start", "first", OBSERVE)

    run = home.run("hooks", "list", "--output", "jsonl")

    assert [(record["order"], record["event"], record["hook"]) for record in run.records] == [
        (1, "session_start", "first"),
        (2, "pre_turn", "late-pre_turn"),
        (3, "pre_compact", "late-pre_compact"),
        (4, "pre_tool_use", "late-pre_tool_use"),
        (5, "pre_tool_use", "second"),
        (6, "post_tool_use", "late-post_tool_use"),
        (7, "turn_ending", "late-turn_ending"),
        (8, "subagent_finished", "late-subagent_finished"),
        (9, "session_end", "late-session_end"),
    ]


def test_the_event_is_the_contract_s_own_name(home: CommandHome) -> None:
    home.claude("pre_turn", "remember", "exit 0")
    home.claude("PreToolUse", "guard", "exit 0")

    records = home.run("hooks", "list", "--output", "jsonl").records

    assert [(record["event"], record["contract"]) for record in records] == [("UserPromptSubmit", "claude"), ("PreToolUse", "claude")]


def test_hooks_of_some_sessions_only_are_listed_and_the_table_says_so(home: CommandHome) -> None:
    home.hook("turn_ending", "both", OBSERVE)
    home.claude("Stop", "user-only", "exit 0")
    home.claude("SubagentStop", "subagent-only", "exit 0")
    home.hook("turn_ending", "both-again", OBSERVE)

    records = home.run("hooks", "list", "--output", "jsonl").records
    lines = home.run("hooks", "list").out.splitlines()

    assert [record["hook"] for record in records] == ["both", "user-only", "subagent-only", "both-again"]
    assert [re.split(" {2,}", line)[-2] for line in lines] == ["sessions", "all", "not in subagents", "only in subagents", "all"]


def test_the_same_entry_twice_is_listed_twice(home: CommandHome) -> None:
    home.hook("turn_ending", "twice", OBSERVE)
    home.claude("Stop", "user-only", "exit 0")
    home.entry("turn_ending", "twice", timeout_ms=30_000)
    home.entry("turn_ending", "twice", timeout_ms=30_000)

    records = home.run("hooks", "list", "--output", "jsonl").records

    assert [record["hook"] for record in records] == ["twice", "user-only", "twice", "twice"]


def test_hooks_that_are_switched_off_are_listed_too(home: CommandHome) -> None:
    home.hook("pre_tool_use", "one", OBSERVE)
    home.hook("pre_tool_use", "two", OBSERVE)
    home.settings('[hooks."one"]\nmode = "off"\n[hooks."two"]\nmode = "report"\n')

    records = home.run("hooks", "list", "--output", "jsonl").records

    assert [(record["hook"], record["mode"]) for record in records] == [("one", "off"), ("two", "report")]


def test_the_table_is_plain_when_it_is_piped(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE)
    home.hook("post_tool_use", "a-hook-with-a-long-name", OBSERVE, timeout_ms=1)

    head, *rows = home.run("hooks", "list").out.splitlines()

    assert "\x1b" not in head + "".join(rows)
    assert " ".join(head.split()) == "# event hook contract tier priority pattern timeout lane on failure mode sessions file"
    assert rows[0].split()[:4] == ["1", "pre_tool_use", "lookout", "vera"]
    assert rows[0].endswith("hooks/lookout")
    assert [row.index("vera") for row in rows] == [head.index("contract")] * 2


def test_a_home_without_hooks_says_so(home: CommandHome) -> None:
    assert home.run("hooks", "list").out == f"{home.folder} has no hooks.\n"
    assert home.run("hooks", "list", "--output", "jsonl").out == ""


def test_a_configuration_that_does_not_load_is_told_with_all_that_is_wrong(home: CommandHome) -> None:
    home.entry("pre_tool", "lookout")
    home.entry("pre_turn", "../x", timeout_ms=0)

    run = home.run("hooks", "list")

    assert run.status == 2
    assert run.out == ""
    assert [line.split(": ")[2] for line in run.err.splitlines()] == ["hooks[0].phase", "hooks[1].argv[0]", "hooks[1].timeout_ms"]


def test_an_entry_over_its_limits_does_not_load_either(home: CommandHome) -> None:
    home.hook("pre_turn", "remember", OBSERVE, timeout_ms=30_001)

    run = home.run("hooks", "list")

    assert run.status == 2
    assert "hooks[0].timeout_ms: found 30001" in run.err


def test_a_home_that_is_not_there_is_wrong_usage(home: CommandHome) -> None:
    home.folder = home.folder / "nowhere"

    run = home.run("hooks", "list")

    assert run.status == 2
    assert "nowhere" in run.err
