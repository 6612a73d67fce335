"""`treblehook hooks new --js NAME` and `--python NAME`: a folder that works as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome
from tests.support.needs import needs

NODE = needs("node")


@NODE
def test_a_new_extension_loads_is_listed_and_fires(home: CommandHome) -> None:
    made = home.run("hooks", "new", "--js", "look.out")

    folder = home.folder / "extensions" / "look.out"
    assert (made.status, made.err) == (0, "")
    assert str(folder) in made.out
    assert {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} == {
        "vera.extension.json",
        "index.mjs",
        "vera.d.ts",
        "package.json",
        "README.md",
        "test/index.test.mjs",
    }
    assert home.run("hooks", "check").out == "2 hooks: no errors, no warnings\n"
    listed = home.run("hooks", "list", "--output", "jsonl").records
    assert [(record["hook"], record["event"], record["file"], record["tier"], record["on_failure"]) for record in listed] == [
        ("look.out", "pre_turn", str(folder / "index.mjs"), "extension", "open"),
        ("look.out", "pre_tool_use", str(folder / "index.mjs"), "extension", "open"),
    ]
    run = home.fire("pre_tool_use", "--input", '{"command": "rm treasure"}')
    assert (run.status, run.outcome["by"], run.outcome["reason"]) == (3, "look.out", "Leave the treasure where it is.")
    assert run.calls[0]["raw"] == '{"power":"block","reason":"Leave the treasure where it is."}'


@NODE
def test_its_tests_pass(home: CommandHome) -> None:
    home.run("hooks", "new", "--js", "lookout")
    folder = home.folder / "extensions" / "lookout"
    command = json.loads((folder / "package.json").read_text())["scripts"]["test"]

    run = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout
    assert "pass 3\n" in run.stdout


@NODE
def test_elsewhere_it_says_how_it_is_loaded(home: CommandHome, tmp_path: Path) -> None:
    made = home.run("hooks", "new", "--js", "lookout", "--in", str(tmp_path / "work"))

    entry = made.out.splitlines()[1].partition(": ")[2].rpartition(" in ")[0]
    home.config.write_text(entry)
    assert home.run("hooks", "check").out == "2 hooks: no errors, no warnings\n"


def test_a_new_python_extension_loads_is_listed_and_fires(home: CommandHome) -> None:
    made = home.run("hooks", "new", "--python", "look.out")

    folder = home.folder / "extensions" / "look.out"
    assert (made.status, made.err) == (0, "")
    assert {file.name for file in folder.iterdir()} == {"vera.extension.json", "main.py", "test_main.py", "README.md"}
    assert home.run("hooks", "check").out == "2 hooks: no errors, no warnings\n"
    listed = home.run("hooks", "list", "--output", "jsonl").records
    assert [(record["hook"], record["event"], record["file"], record["tier"], record["on_failure"]) for record in listed] == [
        ("look.out", "pre_turn", str(folder / "main.py"), "extension", "open"),
        ("look.out", "pre_tool_use", str(folder / "main.py"), "extension", "open"),
    ]
    run = home.fire("pre_tool_use", "--input", '{"command": "rm treasure"}')
    assert (run.status, run.outcome["by"], run.outcome["reason"]) == (3, "look.out", "Leave the treasure where it is.")
    assert run.calls[0]["raw"] == '{"power":"block","reason":"Leave the treasure where it is."}'


def test_its_python_tests_pass(home: CommandHome) -> None:
    made = home.run("hooks", "new", "--python", "lookout")
    command = made.out.partition("Test it: ")[2].split()

    run = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert "Ran 3 tests" in run.stderr


@pytest.mark.parametrize("options", [(), ("--js", "a", "--python", "b")])
def test_one_language_is_named(home: CommandHome, options: tuple[str, ...]) -> None:
    made = home.run("hooks", "new", *options)

    assert made.status == 2
    assert "--js NAME, --python NAME or --lua NAME" in made.err
    assert home.everything() == {}


def test_what_is_there_is_left_alone(home: CommandHome) -> None:
    folder = home.folder / "extensions" / "lookout"
    folder.mkdir(parents=True)
    (folder / "index.mjs").write_text("mine")

    made = home.run("hooks", "new", "--js", "lookout")

    assert made.status == 2
    assert "is there already" in made.err
    assert home.everything() == {"extensions/lookout/index.mjs": b"mine"}


@pytest.mark.parametrize("name", ["", "A", "../x", "a b", "a/b"])
def test_a_name_that_is_no_id(home: CommandHome, name: str) -> None:
    made = home.run("hooks", "new", "--js", name)

    assert made.status == 2
    assert "lower-case letters and digits" in made.err
    assert home.everything() == {}


def test_a_new_plugin_and_its_tests_pass(home: CommandHome) -> None:
    made = home.run("hooks", "new", "--lua", "Look-out_2")

    folder = home.folder / "plugins" / "Look-out_2"
    assert (made.status, made.err) == (0, "")
    assert made.out == f"{folder} is a plugin now. Test it: treblehook hooks test {folder}\n"
    assert {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} == {
        "init.lua",
        "plugin.yaml",
        ".luarc.json",
        "tests/guard_test.lua",
        "types/cru.lua",
        "types/testing.lua",
        "README.md",
    }
    tested = home.bare_run("hooks", "test", str(folder))
    assert (tested.status, tested.out.splitlines()[-1]) == (0, "4 tests: 4 passed, 0 failed")
    assert f"treblehook hooks test {folder}" in (folder / "README.md").read_text()


def test_a_new_plugin_is_listed_and_fires(home: CommandHome) -> None:
    home.run("hooks", "new", "--lua", "lookout")

    assert home.run("hooks", "check").out == "2 hooks: no errors, no warnings\n"
    listed = home.run("hooks", "list", "--output", "jsonl").records
    file = str(home.folder / "plugins" / "lookout" / "init.lua")
    assert [(record["hook"], record["event"], record["file"], record["line"], record["tier"]) for record in listed] == [
        ("lookout", "transform_context", file, 10, "plugin"),
        ("lookout", "pre_tool_call", file, 3, "plugin"),
    ]
    run = home.fire("pre_tool_call", "--input", '{"command": "rm treasure"}')
    assert (run.status, run.outcome["by"]) == (3, "lookout")
    assert "Leave the treasure where it is." in run.outcome["reason"]


def test_a_plugin_elsewhere_says_how_it_is_loaded(home: CommandHome, tmp_path: Path) -> None:
    made = home.run("hooks", "new", "--lua", "lookout", "--in", str(tmp_path / "work"))

    variable, _, place = made.out.splitlines()[1].partition(": ")[2].partition("=")
    checked = home.run("hooks", "check", environment={variable: place})
    assert checked.out == "2 hooks: no errors, no warnings\n"


@pytest.mark.parametrize("name", ["", "a.b", "../x", "a b", "-a"])
def test_a_name_that_is_none_of_a_plugin(home: CommandHome, name: str) -> None:
    made = home.run("hooks", "new", "--lua", name)

    assert made.status == 2
    assert home.everything() == {}
