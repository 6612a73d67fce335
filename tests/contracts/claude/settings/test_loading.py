"""Reading a settings file: what is wrong or not known is told with its place, and does not harm the rest."""

import json
from typing import Any

import pytest

from treblehook.contracts.claude.settings.entries import CommandLine, Endpoint, SettingsFile
from treblehook.contracts.claude.settings.lines import object_lines
from treblehook.contracts.claude.settings.loading import read_settings_file
from treblehook.contracts.claude.settings.merging import merged

COMMAND = {"type": "command", "command": "true"}


def read(settings: Any) -> SettingsFile:
    return read_settings_file("/s.json", settings if isinstance(settings, bytes) else json.dumps(settings).encode())


def one(event: str = "PreToolUse", **entry: Any) -> SettingsFile:
    return read({"hooks": {event: [{"hooks": [{**COMMAND, **entry}]}]}})


TEXT = b"""{
  "permissions": {"allow": ["Bash(a [ { : , b)"]},
  "hooks": {
    "Stop": [
      {"hooks": [
        {"type": "command", "command": "\\"x\\" {"},
        {"type": "command",
         "command": "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.py --all | tee /tmp/log",
         "timeout": 5, "async": true}
      ]}
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http", "url": "http://127.0.0.1:1/x", "if": "Bash(git *)"}]}]
  }
}"""


def test_hooks_with_their_places_and_lines() -> None:
    found = read(TEXT)

    assert [(hook.place, hook.line, hook.event.name, hook.name, hook.seconds) for hook in found.hooks] == [
        ("hooks.Stop[0].hooks[0]", 6, "Stop", "x", 600.0),
        ("hooks.Stop[0].hooks[1]", 7, "Stop", "guard.py", 5.0),
        ("hooks.PreToolUse[0].hooks[0]", 12, "PreToolUse", "127.0.0.1:1/x", 600.0),
    ]
    assert found.hooks[1].how == CommandLine("$CLAUDE_PROJECT_DIR/.claude/hooks/guard.py --all | tee /tmp/log", background=True)
    assert found.hooks[2].how == Endpoint("http://127.0.0.1:1/x")
    assert found.problems == ()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 ~/hooks/guard.py --x", "guard.py"),
        ('"$CLAUDE_PROJECT_DIR"/check.sh', "check.sh"),
        ("jq -r .x | tee /tmp/log", "jq"),
        ("""jq -r '.a // "none"' >> ~/log""", "jq"),
        ("'/home/a b/guard one.py' -v", "guard one.py"),
        ("uv run --script hooks/lint.py", "lint.py"),
        ("echo 'unbalanced", "echo"),
        ("./", "./"),
        ("a" * 80, "a" * 60),
    ],
)
def test_a_hook_is_called_by_the_file_that_it_runs(command: str, name: str) -> None:
    assert one(command=command).hooks[0].name == name


@pytest.mark.parametrize(
    ("event", "given", "seconds"),
    [
        ("PreToolUse", None, 600.0),
        ("UserPromptSubmit", None, 30.0),
        ("SessionEnd", None, 1.5),
        ("SessionEnd", 10, 10.0),
        ("SessionEnd", 100, 60.0),
        ("Stop", 0.5, 0.5),
    ],
)
def test_time_limits(event: str, given: float | None, seconds: float) -> None:
    found = one(event) if given is None else one(event, timeout=given)

    assert found.hooks[0].seconds == seconds


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        (b'{"hooks": {},}', "line 1, column 14", "is not JSON"),
        (b"{} // no", "line 1, column 4", "is not JSON"),
        (b"\xff", "", "is not UTF-8"),
        (b"[]", "", "must be an object"),
        (b'{"a": NaN}', "line 1, column 7", "is not JSON"),
        (b"[" * 100_000, "", "is not JSON"),
        (b"", "line 1, column 1", "is not JSON"),
    ],
)
def test_a_file_that_is_not_strict_json_has_no_hooks(content: bytes, place: str, words: str) -> None:
    found = read(content)

    assert found.hooks == ()
    [problem] = found.problems
    assert (problem.place, problem.level) == (place, "error")
    assert words in problem.message


@pytest.mark.parametrize(
    ("hooks", "place"),
    [
        ([], "hooks"),
        ({"Stop": {}}, "hooks.Stop"),
        ({"Stop": ["x"]}, "hooks.Stop[0]"),
        ({"Stop": [{}]}, "hooks.Stop[0].hooks"),
        ({"Stop": [{"hooks": [1]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"matcher": 1, "hooks": []}]}, "hooks.Stop[0].matcher"),
        ({"PreToolUse": [{"matcher": "(", "hooks": [COMMAND]}]}, "hooks.PreToolUse[0].matcher"),
        ({"Stop": [{"hooks": [{}]}]}, "hooks.Stop[0].hooks[0].type"),
        ({"Stop": [{"hooks": [{"type": "comand"}]}]}, "hooks.Stop[0].hooks[0].type"),
        ({"Stop": [{"hooks": [{"type": "command", "command": " "}]}]}, "hooks.Stop[0].hooks[0].command"),
        ({"Stop": [{"hooks": [{**COMMAND, "timeout": 0}]}]}, "hooks.Stop[0].hooks[0].timeout"),
        ({"Stop": [{"hooks": [{**COMMAND, "timeout": True}]}]}, "hooks.Stop[0].hooks[0].timeout"),
        ({"PreToolUse": [{"hooks": [{**COMMAND, "if": 1}]}]}, "hooks.PreToolUse[0].hooks[0].if"),
        ({"Stop": [{"hooks": [{"type": "http", "url": "file:///x"}]}]}, "hooks.Stop[0].hooks[0].url"),
        ({"Stop": [{"hooks": [{"type": "http", "url": "http://x", "headers": {"a": 1}}]}]}, "hooks.Stop[0].hooks[0].headers"),
        ({"Stop": [{"hooks": [{"type": "http", "url": "http://x", "allowedEnvVars": "A"}]}]}, "hooks.Stop[0].hooks[0].allowedEnvVars"),
    ],
)
def test_what_is_malformed_is_an_error_and_harms_nothing_else(hooks: Any, place: str) -> None:
    found = read({"hooks": hooks})
    [problem] = found.problems
    assert (problem.file, problem.place, problem.level) == ("/s.json", place, "error")

    if isinstance(hooks, dict):
        beside = read({"hooks": {**hooks, "SessionStart": [{"hooks": [COMMAND]}]}})
        assert "SessionStart" in [hook.event.name for hook in beside.hooks]


@pytest.mark.parametrize(
    ("event", "entry", "place"),
    [
        ("Notification", COMMAND, "hooks.Notification"),
        ("PreToolUse", {"type": "prompt", "prompt": "x"}, "hooks.PreToolUse[0].hooks[0].type"),
        ("PreToolUse", {"type": "agent", "prompt": "x"}, "hooks.PreToolUse[0].hooks[0].type"),
        ("PreToolUse", {"type": "mcp_tool", "server": "x", "tool": "y"}, "hooks.PreToolUse[0].hooks[0].type"),
        ("PreToolUse", {**COMMAND, "args": ["x"]}, "hooks.PreToolUse[0].hooks[0].args"),
        ("PreToolUse", {**COMMAND, "shell": "powershell"}, "hooks.PreToolUse[0].hooks[0].shell"),
        ("Stop", {**COMMAND, "if": "Bash"}, "hooks.Stop[0].hooks[0].if"),
        ("PreToolUse", {**COMMAND, "if": "WebFetch(domain:x)"}, "hooks.PreToolUse[0].hooks[0].if"),
        ("SessionStart", {"type": "http", "url": "http://x"}, "hooks.SessionStart[0].hooks[0].type"),
    ],
)
def test_what_is_not_known_here_is_a_warning_and_left_out(event: str, entry: Any, place: str) -> None:
    found = read({"hooks": {event: [{"hooks": [entry]}]}})

    assert found.hooks == ()
    [problem] = found.problems
    assert (problem.place, problem.level) == (place, "warning")
    assert problem.message
    assert problem.remedy


@pytest.mark.parametrize(
    ("event", "group", "place"),
    [
        ("Stop", {"matcher": "x", "hooks": [COMMAND]}, "hooks.Stop[0].matcher"),
        ("Stop", {"hooks": [{**COMMAND, "asyncRewake": True}]}, "hooks.Stop[0].hooks[0].asyncRewake"),
        ("Stop", {"hooks": [{"type": "command", "command": "echo A=1 >> $CLAUDE_ENV_FILE"}]}, "hooks.Stop[0].hooks[0].command"),
    ],
)
def test_what_does_nothing_is_a_warning_and_the_hook_stays(event: str, group: Any, place: str) -> None:
    found = read({"hooks": {event: [group]}})

    assert len(found.hooks) == 1
    assert [problem.place for problem in found.problems] == [place]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"env": {"A": "1", "B": "2"}}, [("env", "not set for hooks here: A, B")]),
        ({"env": {}}, []),
        ({"enabledPlugins": {"a@m": True, "b@m": False}}, [("enabledPlugins", "hooks that plugins bring are not run here: a@m")]),
        ({"enabledPlugins": {"b@m": False}}, []),
    ],
)
def test_what_would_reach_hooks_there_and_does_not_here_is_a_warning(more: Any, told: list[tuple[str, str]]) -> None:
    found = read({"hooks": {"Stop": [{"hooks": [COMMAND]}]}, **more})

    assert len(found.hooks) == 1
    assert [(problem.place, problem.message) for problem in found.problems] == told
    assert all(problem.level == "warning" for problem in found.problems)


def test_a_near_name_is_suggested() -> None:
    [problem] = read({"hooks": {"PreToolUsed": []}}).problems

    assert problem.remedy == "did you mean PreToolUse?"


def test_other_settings_are_nobodys_business() -> None:
    assert read({"permissions": {"allow": 5}, "model": None, "env": []}) == SettingsFile("/s.json")


# Several files


def file(name: str, **settings: Any) -> SettingsFile:
    return read_settings_file(name, json.dumps({"hooks": {"Stop": [{"hooks": [COMMAND]}]}, **settings}).encode())


@pytest.mark.parametrize(("far", "near", "run"), [(None, None, 2), (True, None, 0), (None, True, 0), (True, False, 2), (False, True, 0)])
def test_the_nearest_word_on_all_hooks_counts(far: bool | None, near: bool | None, run: int) -> None:
    files = [
        file("far", **({} if far is None else {"disableAllHooks": far})),
        file("near", **({} if near is None else {"disableAllHooks": near})),
    ]

    assert len(merged(files).hooks) == run


def test_a_switch_that_is_none_is_told() -> None:
    [problem] = read({"disableAllHooks": "yes"}).problems

    assert (problem.place, problem.level) == ("disableAllHooks", "error")


@pytest.mark.parametrize(
    ("allowed", "runs"),
    [(["https://*.example.com/*"], True), (["https://other.com/*"], False), ([], False), (["https://a.example.com/?"], False)],
)
def test_addresses_that_are_allowed(allowed: list[str], runs: bool) -> None:
    entry = {"type": "http", "url": "https://a.example.com/x", "headers": {}, "allowedEnvVars": ["A", "B"]}
    files = [read({"hooks": {"Stop": [{"hooks": [entry]}]}}), read({"allowedHttpHookUrls": allowed, "httpHookAllowedEnvVars": ["B"]})]

    found = merged(files)

    assert [hook.how for hook in found.hooks] == ([Endpoint("https://a.example.com/x", {}, frozenset("B"))] if runs else [])
    assert [problem.place for problem in found.problems] == ([] if runs else ["hooks.Stop[0].hooks[0].url"])


def test_lines_of_objects() -> None:
    assert object_lines('{"a": [{}, [1, {"}": "{"}\n]],\n"b": {"c": {}}}') == {"": 1, "a[0]": 1, "a[1][1]": 1, "b": 3, "b.c": 3}
