"""`treblehook hooks check`: executables that could never be started."""

import os
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome, says

OBSERVE = says({"power": "observe"})


def test_an_executable_that_is_missing_is_an_error_with_the_nearest_name(home: CommandHome) -> None:
    home.script("lookout.py", OBSERVE)
    home.entry("pre_tool_use", "lookout")

    problem = home.only_problem()

    assert problem["place"] == "hooks[0].argv[0]"
    assert problem["message"] == f"{home.hooks / 'lookout'} does not exist"
    assert problem["remedy"] == "did you mean lookout.py?"


def test_a_directory_is_an_error(home: CommandHome) -> None:
    (home.hooks / "lookout").mkdir()
    home.entry("pre_tool_use", "lookout")

    assert home.only_problem()["message"].endswith("lookout is a directory")


def test_a_pipe_is_an_error(home: CommandHome) -> None:
    os.mkfifo(home.hooks / "lookout")
    home.entry("pre_tool_use", "lookout")

    assert home.only_problem()["message"].endswith("lookout is not a file")


def test_a_link_that_leads_nowhere_is_an_error(home: CommandHome) -> None:
    (home.hooks / "lookout").symlink_to("/nowhere/lookout")
    home.entry("pre_tool_use", "lookout")

    assert home.only_problem()["message"].endswith("lookout is a link to /nowhere/lookout, which does not exist")


def test_a_link_that_leads_to_an_executable_is_fine(home: CommandHome, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text(f"#!/bin/sh\n{OBSERVE}\n")
    target.chmod(0o755)
    (home.hooks / "lookout").symlink_to(target)
    home.entry("pre_tool_use", "lookout")

    assert home.found() == []


FIRST_LINES = {
    "import json": "does not begin with #! and an interpreter",
    "\ufeff#!/bin/sh": "begins with a byte order mark, so its first line is not seen",
    "#!/bin/sh\r": "has a carriage return in its #! line, which the system takes for a part of the name",
    "#!": "names no interpreter after #!",
    "#!/nowhere/python3 -u": "has the interpreter /nowhere/python3, which does not exist",
    "#!/etc/passwd": "has the interpreter /etc/passwd, which cannot be executed",
    "#!/tmp": "has the interpreter /tmp, which cannot be executed",
    "#!/usr/bin/env": "names no interpreter after env",
    "#!/usr/bin/env no-such-program": "has the interpreter no-such-program, which is not on PATH",
    "#!/usr/bin/env -S no-such-program -u": "has the interpreter no-such-program, which is not on PATH",
    "#!/usr/bin/env sh -e": "has the interpreter sh -e, which is not on PATH",
}


@pytest.mark.parametrize("first_line", FIRST_LINES)
def test_a_first_line_that_starts_nothing_is_an_error(home: CommandHome, first_line: str) -> None:
    home.script("lookout", "observe", first_line=first_line)
    home.entry("pre_tool_use", "lookout")

    problem = home.only_problem()

    assert problem["level"] == "error"
    assert problem["message"] == f"{home.hooks / 'lookout'} {FIRST_LINES[first_line]}"
    assert problem["remedy"]


@pytest.mark.parametrize(
    "first_line", ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e", "#!/usr/bin/env -S A=b sh"]
)
def test_a_first_line_that_starts_a_program_is_fine_and_the_hook_runs(home: CommandHome, first_line: str) -> None:
    home.script("lookout", OBSERVE, first_line=first_line)
    home.entry("pre_tool_use", "lookout", timeout_ms=30_000)

    assert home.found() == []
    assert home.run("hooks", "fire", "pre_tool_use", "--output", "jsonl").records[0]["ended"] == "passed"


def test_an_empty_file_is_an_error(home: CommandHome) -> None:
    home.script("lookout", "")
    (home.hooks / "lookout").write_bytes(b"")
    home.entry("pre_tool_use", "lookout")

    assert home.only_problem()["message"].endswith("lookout is empty")


def test_a_compiled_program_is_fine(home: CommandHome) -> None:
    (home.hooks / "shell").symlink_to("/bin/sh")
    home.entry("session_end", "shell")

    assert home.found() == []


def test_hooks_without_their_folder_are_one_error(home: CommandHome) -> None:
    home.hooks.rmdir()
    home.entry("pre_tool_use", "one")
    home.entry("pre_tool_use", "two")

    problem = home.only_problem()

    assert problem["place"] == "hooks"
    assert problem["message"] == f"the folder of the executables, {home.hooks}, does not exist"
