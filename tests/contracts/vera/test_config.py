"""What config.json may hold, and what is said about one that does not load (vera.md 2.1, 5.2; cases 1 to 25)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.sample_events import proposed, submitted
from tests.support.vera_home import VeraHome, contexts, says
from treblehook.contracts.vera.config import VeraConfig, load_config
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.lifecycle import AddContext

OBSERVE = {"power": "observe"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def load(file: Path, content: object) -> VeraConfig:
    file.write_text(json.dumps(content))
    return load_config(file)


def problems(file: Path, content: object) -> list[Problem]:
    with pytest.raises(ConfigInvalid) as raised:
        load(file, content)
    assert all(problem.file == str(file) and problem.level == "error" for problem in raised.value.problems)
    return list(raised.value.problems)


def problem(file: Path, **fields: Any) -> Problem:
    """The one problem of a list that holds one entry, good but for these fields."""
    (found,) = problems(file, {"hooks": [{"phase": "pre_tool_use", "argv": ["lookout"], **fields}]})
    return found


def test_a_missing_file_has_no_hooks(file: Path) -> None:
    config = load_config(file)

    assert config.hooks == ()
    assert config.hooks_dir == str(file.parent / "hooks")


async def test_case_001_no_hooks_key_runs_nothing(home: VeraHome) -> None:
    home.config.write_text('{"schema_version": 1, "model": "x"}')

    assert load_config(home.config).hooks == ()


async def test_case_002_an_empty_list_runs_nothing(home: VeraHome) -> None:
    session = home.session()

    assert session.handlers == []
    assert (await session.fire(proposed())).decision is None


@pytest.mark.parametrize("hooks", [None, {}, "lookout", 3, True])
def test_hooks_that_are_no_array_do_not_load(file: Path, hooks: object) -> None:
    (found,) = problems(file, {"hooks": hooks})

    assert found.place == "hooks"
    assert json.dumps(hooks) in found.message
    assert "array" in found.message


@pytest.mark.parametrize("entry", [None, [], "lookout", 3])
def test_case_004_an_entry_that_is_no_object_does_not_load(file: Path, entry: object) -> None:
    (found,) = problems(file, {"hooks": [{"phase": "pre_turn", "argv": ["a"]}, entry]})

    assert found.place == "hooks[1]"
    assert json.dumps(entry) in found.message


def test_case_005_an_unknown_phase_does_not_load(file: Path) -> None:
    found = problem(file, phase="on_start")

    assert found.place == "hooks[0].phase"
    assert '"on_start"' in found.message
    assert "session_start, pre_turn, pre_compact" in found.message


def test_case_006_phases_are_case_sensitive(file: Path) -> None:
    found = problem(file, phase="PRE_TOOL_USE")

    assert found.place == "hooks[0].phase"
    assert found.remedy == "did you mean pre_tool_use?"


def test_a_phase_of_functions_only_does_not_load(file: Path) -> None:
    assert "function of an extension" in problem(file, phase="turn_finished").remedy


@pytest.mark.parametrize("entry", [{"argv": ["a"]}, {"argv": ["a"], "phase": None}, {"argv": ["a"], "phase": 3}])
def test_a_missing_phase_does_not_load(file: Path, entry: object) -> None:
    (found,) = problems(file, {"hooks": [entry]})

    assert found.place == "hooks[0].phase"


def test_case_008_an_empty_argv_does_not_load(file: Path) -> None:
    found = problem(file, argv=[])

    assert found.place == "hooks[0].argv"
    assert "found []" in found.message


@pytest.mark.parametrize("argv", ["lookout", None, {}, 1])
def test_case_009_an_argv_that_is_no_array_does_not_load(file: Path, argv: object) -> None:
    assert problem(file, argv=argv).place == "hooks[0].argv"


@pytest.mark.parametrize("word", ["", None, 3, ["x"], "look\0out"])
@pytest.mark.parametrize("place", [0, 1])
def test_case_010_every_word_of_argv_is_a_text_that_is_not_empty(file: Path, word: object, place: int) -> None:
    argv: list[object] = ["lookout", "x"]
    argv[place] = word

    assert problem(file, argv=argv).place == f"hooks[0].argv[{place}]"


def test_a_missing_argv_does_not_load(file: Path) -> None:
    (found,) = problems(file, {"hooks": [{"phase": "pre_turn"}]})

    assert (found.place, found.message.startswith("is missing")) == ("hooks[0].argv", True)


async def test_case_016_a_missing_executable_loads_and_its_run_fails(home: VeraHome) -> None:
    home.hook("pre_tool_use", "nobody")

    outcome = await home.fire(proposed())

    assert outcome.blocked is not None
    assert outcome.blocked.reason == "pre_tool_use hook nobody failed: was not started: no such file"


@pytest.mark.parametrize("timeout", ["0", "-5", "1.5", '"1000"', "true", "null", "1e999", "9007199254740992", "[]"])
def test_case_017_a_timeout_is_a_positive_whole_number(file: Path, timeout: str) -> None:
    file.write_text(f'{{"hooks": [{{"phase": "pre_turn", "argv": ["a"], "timeout_ms": {timeout}}}]}}')

    with pytest.raises(ConfigInvalid, match=r"hooks\[0\]\.timeout_ms: found .*whole number"):
        load_config(file)


@pytest.mark.parametrize(("timeout", "shown"), [("1e30", "1e+30"), ("1" + "0" * 30, "1" + "0" * 30), ("0", "0")])
def test_a_wrong_timeout_is_told_both_ends_of_what_is_allowed(file: Path, timeout: str, shown: str) -> None:
    file.write_text(f'{{"hooks": [{{"phase": "pre_turn", "argv": ["a"], "timeout_ms": {timeout}}}]}}')

    with pytest.raises(ConfigInvalid) as raised:
        load_config(file)

    (found,) = raised.value.problems
    assert found.message == (
        f"found {shown}; it must be a whole number of milliseconds from 1 to 9007199254740991, and at most 30000 when a session starts"
    )


@pytest.mark.parametrize(("written", "read"), [("1", 1), ("1000.0", 1000), ("2e3", 2000), ("9007199254740991", 2**53 - 1)])
def test_a_whole_number_may_be_written_as_javascript_reads_it(file: Path, written: str, read: int) -> None:
    file.write_text(f'{{"hooks": [{{"phase": "pre_turn", "argv": ["a"], "timeout_ms": {written}}}]}}')

    timeout = load_config(file).hooks[0].timeout_ms

    assert (timeout, type(timeout)) == (read, int)


def test_the_timeout_is_a_second_by_default(file: Path) -> None:
    assert load(file, {"hooks": [{"phase": "pre_turn", "argv": ["a"]}]}).hooks[0].timeout_ms == 1000


@pytest.mark.parametrize("protocol", ["shell", "Claude", "", None, 1])
def test_case_021_an_unknown_protocol_does_not_load(file: Path, protocol: object) -> None:
    found = problem(file, protocol=protocol)

    assert found.place == "hooks[0].protocol"
    assert json.dumps(protocol) in found.message


@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "SessionStart", "UserPromptSubmit", "SubagentStop", "PreCompact", "SessionEnd"])
def test_case_022_a_claude_event_needs_its_protocol(file: Path, event: str) -> None:
    found = problem(file, phase=event)

    assert found.place == "hooks[0].phase"
    assert found.remedy == 'this is a Claude event: add "protocol": "claude"'
    assert load(file, {"hooks": [{"phase": event, "protocol": "claude", "argv": ["a"]}]}).hooks[0].phase == event


@pytest.mark.parametrize("phase", ["post_tool_use", "subagent_finished"])
def test_the_claude_protocol_lacks_two_phases(file: Path, phase: str) -> None:
    found = problem(file, phase=phase, protocol="claude")

    assert found.place == "hooks[0].phase"
    assert phase in found.remedy


@pytest.mark.parametrize("event", ["PostToolUse", "Notification", "stop", "turn_finished"])
def test_other_claude_events_are_unknown(file: Path, event: str) -> None:
    assert problem(file, phase=event, protocol="claude").place == "hooks[0].phase"


async def test_case_024_a_phase_name_stands_for_the_claude_event(home: VeraHome) -> None:
    home.claude("pre_turn", "remember", 'cat >> "$0.stdin"; echo context')

    outcome = await home.fire(submitted())

    assert contexts(outcome) == [AddContext("context")]
    assert home.sent("remember")[0]["hook_event_name"] == "UserPromptSubmit"


async def test_case_025_unknown_keys_are_ignored(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", says(OBSERVE), matcher="Edit", env={"A": 1}, timeout=None)

    await home.fire(proposed())

    assert len(home.sent("lookout")) == 1


def test_everything_wrong_is_said_at_once(file: Path) -> None:
    found = problems(
        file,
        {
            "hooks": [{"phase": "nope", "argv": ["../x", ""], "protocol": "sh", "timeout_ms": 0}, 7, {"phase": "pre_turn", "argv": ["a"]}],
            "extensions": [{"path": "relative"}, {"path": "/x", "enabled": "yes"}],
        },
    )

    assert [problem.place for problem in found] == [
        "hooks[0].protocol",
        "hooks[0].phase",
        "hooks[0].argv[1]",
        "hooks[0].argv[0]",
        "hooks[0].timeout_ms",
        "hooks[1]",
        "extensions[0].path",
        "extensions[1].enabled",
    ]


def test_the_order_of_the_list_is_kept_and_doubles_stay(file: Path) -> None:
    entries = [{"phase": "pre_turn", "argv": [name]} for name in ("b", "a", "b")]

    assert [hook.name for hook in load(file, {"hooks": entries}).hooks] == ["b", "a", "b"]
