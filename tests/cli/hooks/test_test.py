"""`treblehook hooks test DIR`: what it prints, and what it ends with. No home is needed."""

import os
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome, Ran

GOOD = 'describe("the guard", function() it("passes", function() end) end)\n'
BAD = 'it("compares", function()\n  print("seen")\n  assert.equal({ 1 }, "x")\nend)\n'


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "digger"
    (folder / "tests").mkdir(parents=True)
    (folder / "init.lua").write_text('cru.on("pre_tool_call", function() end)')
    return folder


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / "tests" / f"{name}_test.lua").write_text(text)


def run(home: CommandHome, *arguments: str) -> Ran:
    return home.bare_run("hooks", "test", *arguments, environment={"TREBLEHOOK_HOME": "/nowhere", "HOME": "/nowhere"})


def test_all_pass(home: CommandHome, plugin: Path) -> None:
    write(plugin, a=GOOD)

    assert run(home, str(plugin)) == Ran(0, "ok     tests/a_test.lua: the guard > passes\n\n1 test: 1 passed, 0 failed\n", "")


def test_a_failure_is_shown_with_all_there_is_to_know(home: CommandHome, plugin: Path) -> None:
    write(plugin, a=BAD, b=GOOD, c="local = 1")

    ran = run(home, str(plugin))

    assert ran.status == 1
    assert ran.out.splitlines() == [
        "FAILED tests/a_test.lua: compares",
        "       tests/a_test.lua:3: the values are not equal",
        "       expected: {",
        "         1",
        "       }",
        '       actual:   "x"',
        "       | seen",
        "ok     tests/b_test.lua: the guard > passes",
        "FAILED tests/c_test.lua",
        "       tests/c_test.lua:1: <name> expected near '='",
        "",
        "3 tests: 1 passed, 2 failed",
    ]


def test_json_lines(home: CommandHome, plugin: Path) -> None:
    write(plugin, a=BAD, b=GOOD)

    ran = run(home, str(plugin), "--output", "jsonl")

    [failed, passed, summary] = ran.records
    assert ran.status == 1
    assert failed.pop("ms") > 0
    assert failed == {
        "type": "test",
        "file": "tests/a_test.lua",
        "name": "compares",
        "status": "failed",
        "line": 3,
        "message": "the values are not equal",
        "expected": "{\n  1\n}",
        "actual": '"x"',
        "output": ["seen"],
    }
    assert (passed["name"], passed["status"], passed["message"], passed["expected"]) == ("the guard > passes", "passed", "", None)
    assert summary == {"type": "summary", "passed": 1, "failed": 1}


def test_a_filter(home: CommandHome, plugin: Path) -> None:
    write(plugin, a=BAD, b=GOOD)

    assert run(home, str(plugin), "--filter", "b_test.lua: the guard").out.splitlines()[-1] == "1 test: 1 passed, 0 failed"
    nothing = run(home, str(plugin), "--filter", "zzz")
    assert (nothing.status, nothing.out) == (2, "")
    assert "no test has 'zzz' in its file and name" in nothing.err


def test_a_relative_folder_and_the_folder_one_is_in(home: CommandHome, plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(plugin, a=GOOD)

    monkeypatch.chdir(plugin.parent)
    assert run(home, "digger").status == 0
    monkeypatch.chdir(plugin)
    assert run(home, ".").status == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: None, "it has no tests (a test is a file such as tests/first_test.lua)"),
        (lambda folder: (folder / "init.lua").unlink(), "it is no plugin: there is no init.lua in it"),
        (lambda folder: folder.rename(folder.parent / "gone"), "it has no tests"),
    ],
)
def test_where_there_is_nothing_to_run(home: CommandHome, plugin: Path, make: object, message: str) -> None:
    assert callable(make)
    make(plugin)

    ran = run(home, str(plugin))

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {plugin}: {message}")


def test_what_a_test_prints_cannot_write_to_the_terminal(home: CommandHome, plugin: Path) -> None:
    write(plugin, a='it("\\27[2Jx", function() print("\\27]0;t\\7") error("\\27[31m") end)')

    ran = run(home, str(plugin))

    assert "\x1b" not in ran.out
    assert "\\x1b[2Jx" in ran.out


def test_a_test_that_never_ends_is_ended(home: CommandHome, plugin: Path) -> None:
    write(plugin, a='it("a", function() while true do end end) it("b", function() end)')

    ran = run(home, str(plugin))

    assert ran.out.splitlines()[-1] == "2 tests: 1 passed, 1 failed"


def test_a_broken_plugin_is_told_with_its_place(home: CommandHome, plugin: Path) -> None:
    (plugin / "init.lua").write_text("\nerror('broken')")
    write(plugin, a='it("a", function() plugin.load() end)')

    ran = run(home, str(plugin))

    assert ran.status == 1
    assert f"the plugin did not load: {plugin}/init.lua:2: broken" in ran.out


def test_nothing_is_left_behind(home: CommandHome, plugin: Path) -> None:
    write(plugin, a='it("a", function() cru.storage.set("k", 1) end)')
    before = sorted(os.listdir(plugin))

    assert run(home, str(plugin)).status == 0

    assert (sorted(os.listdir(plugin)), home.everything()) == (before, {})
