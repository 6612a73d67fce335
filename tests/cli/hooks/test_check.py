"""`treblehook hooks check`: one test for each kind of mistake that it finds."""

import json
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})
BLOCK = says({"power": "block", "reason": "no"})
MUTATE = says({"power": "mutate", "input": {}})


def test_a_record_has_exactly_the_promised_keys(home: CommandHome) -> None:
    home.script("lookout", OBSERVE, mode=0o644)
    home.entry("pre_tool_use", "lookout")

    assert home.only_problem() == {
        "file": str(home.config),
        "place": "hooks[0].argv[0]",
        "level": "error",
        "message": f"{home.hooks / 'lookout'} is not executable",
        "remedy": f"chmod +x {home.hooks / 'lookout'}",
    }


def test_a_sound_home_has_nothing_to_tell(home: CommandHome) -> None:
    for phase in ("session_start", "pre_turn", "pre_tool_use", "post_tool_use", "turn_ending", "pre_compact", "session_end"):
        home.hook(phase, phase, OBSERVE, timeout_ms=1000)
    home.claude("UserPromptSubmit", "remember", "exit 0", timeout_ms=1000)
    home.claude("Stop", "map-check", "exit 0", timeout_ms=1000)
    home.settings('[hooks."remember"]\nmode = "report"\n')

    run = home.run("hooks", "check")

    assert (run.status, run.out) == (0, "9 hooks: no errors, no warnings\n")


def test_text_is_one_line_each_and_a_summary(home: CommandHome) -> None:
    home.entry("pre_tool_use", "missing", matcher="bash")
    home.hook("post_tool_use", "sound", OBSERVE, timeout_ms=1000)

    run = home.run("hooks", "check")

    assert run.status == 2
    lines = run.out.splitlines()
    assert [line.split(": ")[0] for line in lines[:-1]] == ["warning", "error"]
    assert lines[-1] == "2 hooks: 1 error, 1 warning"


def test_warnings_alone_are_no_failure(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE, matcher="bash")

    assert home.run("hooks", "check").status == 0


def test_all_that_keeps_both_files_from_loading_is_told(home: CommandHome) -> None:
    home.entry("pre_tool", "lookout")
    home.entry("pre_turn", "/bin/sh", timeout_ms=True)
    home.settings('[hooks."lookout"]\nmode = "maybe"\n[model]\ncontext_window = -1\n')

    problems = home.found()

    assert {(Path(p["file"]).name, p["place"]) for p in problems} >= {
        ("config.json", "hooks[0].phase"),
        ("config.json", "hooks[1].argv[0]"),
        ("config.json", "hooks[1].timeout_ms"),
        ("config.toml", "hooks.lookout.mode"),
        ("config.toml", "model.context_window"),
    }
    assert {p["level"] for p in problems} == {"error"}


@pytest.mark.parametrize(("name", "text"), [("config.json", "{"), ("config.toml", "[")])
def test_a_file_that_cannot_be_read_at_all_is_an_error(home: CommandHome, name: str, text: str) -> None:
    (home.folder / name).write_text(text)

    problem = home.only_problem()

    assert (Path(problem["file"]).name, problem["level"]) == (name, "error")


def test_a_warning_about_config_toml_is_told(home: CommandHome) -> None:
    home.settings("surprise = 1\n")

    problem = home.only_problem()

    assert (problem["place"], problem["level"]) == ("surprise", "warning")


def test_limits_that_hold_when_a_session_starts_are_errors(home: CommandHome) -> None:
    home.hook("session_start", "slow", OBSERVE, timeout_ms=30_001)
    home.hook("session_start", "wordy", OBSERVE, argv=["wordy", *"abcdefghijklmnop"])
    home.hook("session_start", "long", OBSERVE, argv=["long", "x" * 9000])

    problems = home.found()

    assert [(p["place"], p["level"]) for p in problems] == [
        ("hooks[0].timeout_ms", "error"),
        ("hooks[1].argv", "error"),
        ("hooks[2].argv", "error"),
    ]


def test_a_setting_for_no_hook_is_a_warning_with_the_nearest_name(home: CommandHome) -> None:
    home.hook("post_tool_use", "lookout", OBSERVE, timeout_ms=1000)
    home.settings('[hooks."lokout"]\nmode = "off"\n')

    problem = home.only_problem()

    assert Path(problem["file"]).name == "config.toml"
    assert (problem["place"], problem["level"]) == ('hooks."lokout"', "warning")
    assert problem["message"] == "no hook has this name"
    assert problem["remedy"] == "did you mean lookout?"


def test_a_setting_in_a_home_without_hooks_is_told_that_there_are_none(home: CommandHome) -> None:
    home.settings('[hooks."lookout"]\nmode = "off"\n')

    assert home.only_problem()["remedy"] == "this home has no hooks"


def test_a_setting_that_looks_like_no_hook_is_told_which_there_are(home: CommandHome) -> None:
    home.hook("post_tool_use", "lookout", OBSERVE, timeout_ms=1000)
    home.settings('[hooks."xyz"]\nmode = "off"\n')

    assert home.only_problem()["remedy"] == "hooks here: lookout"


def test_a_setting_for_two_hooks_of_one_name_is_a_warning(home: CommandHome) -> None:
    home.hook("post_tool_use", "a/lookout", OBSERVE, timeout_ms=1000)
    home.hook("post_tool_use", "b/lookout", OBSERVE, timeout_ms=1000)
    home.settings('[hooks."lookout"]\nmode = "off"\n')

    problem = home.only_problem()

    assert problem["level"] == "warning"
    assert problem["message"].startswith("2 hooks have this name, and the setting holds for all: ")
    assert "a/lookout" in problem["message"]
    assert "b/lookout" in problem["message"]


def test_a_setting_for_one_hook_at_two_phases_is_fine(home: CommandHome) -> None:
    home.hook("post_tool_use", "lookout", OBSERVE, timeout_ms=1000)
    home.entry("session_end", "lookout")
    home.settings('[hooks."lookout"]\nmode = "off"\n')

    assert home.found() == []


@pytest.mark.parametrize("key", ["matcher", "pattern"])
@pytest.mark.parametrize("more", [{}, {"protocol": "claude"}])
def test_a_filter_that_is_ignored_is_a_warning(home: CommandHome, key: str, more: dict[str, str]) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE, **{key: "bash"}, **more)

    problem = home.only_problem()

    assert (problem["place"], problem["level"]) == (f"hooks[0].{key}", "warning")
    assert problem["message"] == "this key is ignored: lookout is not filtered, it runs for every tool"


def test_another_key_that_is_ignored_is_a_warning(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", OBSERVE, timeout=5, env={})

    problems = home.found()

    assert [(p["place"], p["remedy"]) for p in problems] == [
        ("hooks[0].timeout", "did you mean timeout_ms?"),
        ("hooks[0].env", "an entry has phase, argv, protocol, timeout_ms"),
    ]


def test_a_guard_before_a_hook_that_rewrites_is_a_warning_which_the_remedy_clears(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", BLOCK, timeout_ms=1000)
    home.hook("pre_tool_use", "mender", MUTATE, timeout_ms=1000)

    problem = home.only_problem()

    assert (problem["place"], problem["level"]) == ("hooks[0]", "warning")
    assert problem["message"] == "lookout is asked before mender (hooks[1]), which may rewrite the call that it approved"
    assert problem["remedy"] == "move lookout behind mender in the list: the last hook sees what will run"

    home.config.write_text(json.dumps({"hooks": home.entries[::-1]}))
    assert home.found() == []


def test_a_claude_hook_is_a_guard_and_never_rewrites(home: CommandHome) -> None:
    home.claude("PreToolUse", "lookout", "exit 0", timeout_ms=1000)
    home.hook("pre_tool_use", "mender", MUTATE, timeout_ms=1000)
    home.claude("PreToolUse", "updater", 'echo \'{"hookSpecificOutput":{"updatedInput":{}}}\' # mutate', timeout_ms=1000)

    messages = [problem["message"] for problem in home.found()]

    assert len(messages) == 2
    assert messages[0].startswith("lookout is asked before mender (hooks[1]), which")
    assert "updatedInput (ignored)" in messages[1]


def test_a_hook_that_names_no_power_may_do_anything(home: CommandHome) -> None:
    home.hook("pre_tool_use", "lookout", BLOCK, timeout_ms=1000)
    home.hook("pre_tool_use", "wrapper", "exec python3 elsewhere.py", timeout_ms=1000)

    assert "wrapper (hooks[1])" in home.only_problem()["message"]


@pytest.mark.parametrize("mode", ["off", "report"])
def test_a_later_hook_that_is_not_obeyed_rewrites_nothing(home: CommandHome, mode: str) -> None:
    home.hook("pre_tool_use", "lookout", BLOCK, timeout_ms=1000)
    home.hook("pre_tool_use", "mender", MUTATE, timeout_ms=1000)
    home.settings(f'[hooks."mender"]\nmode = "{mode}"\n')

    assert home.found() == []


@pytest.mark.parametrize(("mode", "happens"), [("off", "it is not asked"), ("report", "it is asked, and not obeyed")])
def test_a_guard_that_is_not_obeyed_is_a_warning(home: CommandHome, mode: str, happens: str) -> None:
    home.hook("pre_tool_use", "lookout", BLOCK, timeout_ms=1000)
    home.settings(f'[hooks."lookout"]\nmode = "{mode}"\n')

    problem = home.only_problem()

    assert (problem["place"], problem["level"]) == ('hooks."lookout".mode', "warning")
    assert problem["message"] == f"this guard protects nothing while its mode is {mode!r}: {happens}"


def test_time_limits_over_the_shared_deadline_are_a_warning(home: CommandHome) -> None:
    home.hook("post_tool_use", "one", OBSERVE, timeout_ms=3000)
    home.hook("post_tool_use", "two", OBSERVE, timeout_ms=3000)
    home.hook("post_tool_use", "three", OBSERVE, timeout_ms=1000)

    problem = home.only_problem()

    assert (problem["place"], problem["level"]) == ("hooks[1].timeout_ms", "warning")
    assert problem["message"] == (
        "the 3 hooks of post_tool_use may take 7000 ms, and 5 s are all that they get together: two may be cut short"
    )


def test_one_time_limit_over_the_deadline_is_a_warning(home: CommandHome) -> None:
    home.hook("post_tool_use", "slow", OBSERVE, timeout_ms=5001)

    assert home.only_problem()["message"].startswith("this hook of post_tool_use may take 5001 ms, and 5 s are all")


def test_time_limits_that_just_fit_are_fine(home: CommandHome) -> None:
    home.hook("post_tool_use", "one", OBSERVE, timeout_ms=4000)
    home.hook("post_tool_use", "two", OBSERVE, timeout_ms=1000)
    home.hook("session_start", "three", OBSERVE, timeout_ms=30_000)
    home.hook("session_start", "four", OBSERVE, timeout_ms=30_000)
    home.hook("session_start", "five", OBSERVE, timeout_ms=30_000)

    assert home.found() == []


def test_hooks_that_never_meet_in_one_session_do_not_add_up(home: CommandHome) -> None:
    for name in ("a", "b"):
        home.claude("Stop", f"stop-{name}", "exit 0", timeout_ms=25_000)
        home.claude("SubagentStop", f"subagent-{name}", "exit 0", timeout_ms=25_000)

    assert home.found() == []


def test_hooks_that_everybody_may_change_are_warnings(home: CommandHome) -> None:
    home.hook("session_end", "sub/lookout", OBSERVE)
    home.entry("session_end", "sub/lookout")
    for path in (home.hooks, home.hooks / "sub", home.hooks / "sub" / "lookout"):
        path.chmod(0o777)

    problems = home.found()

    assert [(p["file"], p["level"]) for p in problems] == [
        (str(home.hooks), "warning"),
        (str(home.hooks / "sub"), "warning"),
        (str(home.hooks / "sub" / "lookout"), "warning"),
    ]
    assert "this folder" in problems[1]["message"]
    assert "this hook" in problems[2]["message"]


def test_a_home_that_is_not_there_is_an_error(home: CommandHome, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    home.folder = nowhere

    assert home.run("hooks", "check").status == 2


def test_a_default_home_that_is_not_there_is_an_error(home: CommandHome, tmp_path: Path) -> None:
    run = home.bare_run("hooks", "check", environment={"TREBLEHOOK_HOME": str(tmp_path / "nowhere")})

    assert run.status == 2
    assert run.out.splitlines()[0] == f"error: {tmp_path / 'nowhere'}: there is no such folder (name a home with --home)"


def test_nothing_is_run_and_nothing_is_written(home: CommandHome) -> None:
    home.hook("session_start", "marker", f"touch {home.folder / 'ran'}")
    before = home.everything()

    home.run("hooks", "check")

    assert home.everything() == before
