"""`treblehook trust`: what is shown, who is asked, and what it ends with."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_run import COMMAND, Stage
from tests.support.terminal import Terminal


@pytest.fixture
def stage(stage: Stage) -> Stage:
    write(stage, "init.lua", "return 1")
    return stage


@pytest.fixture
def terminal(stage: Stage) -> Iterator[Terminal]:
    argv = [*COMMAND, "trust", str(stage.workspace), "--home", str(stage.home.folder)]
    started = Terminal(argv, stage.workspace, stage.environment())
    yield started
    started.close()


def write(stage: Stage, name: str, text: str) -> Path:
    path = stage.workspace / ".crucible" / "lua" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def trust(stage: Stage, *options: str) -> tuple[int, list[str], list[str]]:
    ran = stage.bare("trust", *options, "--home", str(stage.home.folder))
    assert "Traceback" not in ran.err
    return ran.status, ran.out.splitlines(), ran.err.splitlines()


def test_without_a_terminal_it_shows_and_trusts_nothing(stage: Stage) -> None:
    folder = stage.workspace / ".crucible" / "lua"

    assert trust(stage) == (
        1,
        [
            f"{folder} has 1 file, 8 bytes. It has not been trusted before:",
            "    init.lua (8 bytes)",
            "All of it may do whatever you may do on this computer.",
        ],
        ["Not trusted: there is no terminal to ask at. Pass --yes to trust it."],
    )
    assert trust(stage, "--list") == (0, ["No workspace is trusted."], [])


def test_yes_trusts_and_the_next_time_there_is_nothing_to_ask(stage: Stage) -> None:
    assert trust(stage, "--yes")[0] == 0

    assert trust(stage) == (0, [f"{stage.workspace}/.crucible/lua is trusted as it is."], [])


def test_what_changed_since_is_shown(stage: Stage) -> None:
    gone = write(stage, "gone.lua", "")
    write(stage, "same.lua", "")
    trust(stage, "--yes")
    gone.unlink()
    write(stage, "init.lua", "return 22")
    write(stage, "lib/new.lua", "x")

    status, out, _ = trust(stage)

    assert status == 1
    assert "it has changed" in out[0]
    assert out[1:-1] == ["  ~ init.lua (9 bytes)", "  + lib/new.lua (1 byte)", "    same.lua (0 bytes)", "  - gone.lua"]


def test_a_person_is_asked_and_says_yes(stage: Stage, terminal: Terminal) -> None:
    terminal.shows("Trust it as it is now? [y/N]")
    terminal.types("y\n")

    assert terminal.ended() == 0
    assert "Trusted, until a byte of it changes." in terminal.text
    assert trust(stage)[0] == 0


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_a_person_says_no(stage: Stage, terminal: Terminal, answer: str) -> None:
    terminal.shows("Trust it as it is now? [y/N]")
    terminal.types(answer)

    assert terminal.ended() == 1
    assert "Not trusted." in terminal.text
    assert trust(stage)[0] == 1


def test_what_changes_while_the_person_thinks_is_not_trusted(stage: Stage, terminal: Terminal) -> None:
    terminal.shows("Trust it as it is now? [y/N]")
    write(stage, "init.lua", "evil")
    terminal.types("y\n")

    assert terminal.ended() == 0
    assert trust(stage)[0] == 1
    write(stage, "init.lua", "return 1")
    assert trust(stage)[0] == 0


def test_the_list_and_taking_it_back(stage: Stage) -> None:
    trust(stage, "--yes")
    write(stage, "init.lua", "return 2")
    trust(stage, "--yes")

    status, out, _ = trust(stage, "--list")
    assert (status, [line.split("  ")[1:3] for line in out]) == (0, [[str(stage.workspace), "1 file"]] * 2)

    assert trust(stage, "--revoke") == (0, [f"{stage.workspace} is not trusted any more."], [])
    assert trust(stage, "--revoke") == (0, [f"{stage.workspace} was not trusted."], [])
    assert trust(stage)[0] == 1


def test_trust_can_be_taken_back_from_a_folder_that_is_gone(stage: Stage, tmp_path: Path) -> None:
    trust(stage, "--yes")
    stage.workspace.rename(tmp_path / "moved")
    stage.workspace.mkdir()

    assert trust(stage, "--revoke", str(stage.workspace))[1] == [f"{stage.workspace} is not trusted any more."]
    assert trust(stage, str(tmp_path / "moved"))[0] == 1


def test_a_folder_without_lua(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()

    status, out, _ = trust(stage, str(tmp_path / "plain"))

    assert (status, out) == (0, [f"{tmp_path}/plain has no .crucible/lua/init.lua: there is nothing to trust."])


def test_what_can_never_be_trusted(stage: Stage) -> None:
    os.mkfifo(stage.workspace / ".crucible" / "lua" / "pipe")

    status, _, err = trust(stage, "--yes")

    assert status == 2
    assert err == [f"error: {stage.workspace}/.crucible/lua/pipe: is no regular file; while that is so it cannot be trusted"]


def test_names_cannot_write_to_the_terminal(stage: Stage) -> None:
    write(stage, "\x1b[2Jx.lua", "")

    assert "    \\x1b[2Jx.lua (0 bytes)" in trust(stage)[1]


def test_a_damaged_store_is_told(stage: Stage) -> None:
    (stage.home.folder / "trust.json").write_text("{")

    status, _, err = trust(stage, "--yes")

    assert status == 2
    assert err[0].startswith(f"error: {stage.home.folder}/trust.json: is damaged")


@pytest.mark.parametrize("options", [("--yes", "--list"), ("--list", "--revoke"), ("--yes", "--revoke")])
def test_options_that_exclude_each_other(stage: Stage, options: tuple[str, ...]) -> None:
    assert trust(stage, *options)[0] == 2


def test_a_folder_that_is_not_there(stage: Stage) -> None:
    assert trust(stage, "nowhere")[0] == 2
