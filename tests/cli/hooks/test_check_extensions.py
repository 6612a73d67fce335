"""`treblehook hooks check`: extensions that do not load, and what of them can never work."""

import json
from pathlib import Path

import pytest

from tests.support.command_home import CommandHome
from tests.support.extension_rig import write_extension
from tests.support.needs import needs

NODE = needs("node")


def js(home: CommandHome, id: str, activate: str, **more: object) -> Path:
    return write_extension(home.folder / "extensions" / id, id, activate, **more)  # type: ignore[arg-type]


@NODE
def test_one_that_throws_is_an_error_at_its_module(home: CommandHome) -> None:
    folder = js(home, "bad", "throw new Error('no treasure');")
    js(home, "good", "vera.hooks.registerPreTurn(() => ({ power: 'observe' }));")

    run = home.run("hooks", "check", "--output", "jsonl")

    [problem] = run.records
    assert run.status == 2
    assert (problem["file"], problem["level"]) == (str(folder / "index.mjs"), "error")
    assert problem["message"].startswith("extension bad does not load: Error: no treasure")


def test_a_manifest_that_does_not_hold_is_an_error_at_its_place(home: CommandHome) -> None:
    folder = js(home, "bad", "", sdk="2")

    problem = home.only_problem()

    assert (problem["file"], problem["place"]) == (str(folder / "vera.extension.json"), "sdk")
    assert problem["message"] == 'extension bad does not load: found "2"; it must be the text "1"'


@NODE
def test_a_capability_that_is_not_offered_is_a_warning(home: CommandHome) -> None:
    folder = js(home, "one", "", capabilities=["hooks.pre_tool", "tools.register"])

    problems = home.found()

    assert [(p["file"], p["place"], p["level"]) for p in problems] == [
        (str(folder / "vera.extension.json"), f"capabilities[{index}]", "warning") for index in (0, 1)
    ]
    assert problems[0]["remedy"] == "did you mean hooks.pre_tool_use?"


def test_a_folder_without_a_manifest_is_a_warning(home: CommandHome) -> None:
    for name in ("lookout", ".git", "node_modules"):
        (home.folder / "extensions" / name).mkdir(parents=True)

    assert home.only_problem()["file"] == str(home.folder / "extensions" / "lookout")


def test_an_included_extension_that_there_is_not(home: CommandHome) -> None:
    home.config.write_text(json.dumps({"disabled_included_extensions": ["vera.command-hooks", "vera.other"]}))

    assert home.only_problem()["place"] == "disabled_included_extensions[1]"


def test_without_node_the_remedy_is_told(home: CommandHome, tmp_path: Path) -> None:
    js(home, "one", "")

    run = home.run("hooks", "check", environment={"PATH": str(tmp_path)})

    assert run.status == 2
    assert "extension one does not load: JavaScript extensions need Node, which is not on PATH" in run.out


@NODE
@pytest.mark.parametrize(("name", "told"), [("example.lookout", []), ("example.lookot", ["did you mean example.lookout?"])])
def test_a_mode_may_name_an_extension(home: CommandHome, name: str, told: list[str]) -> None:
    js(home, "example.lookout", "vera.hooks.registerPreTurn(() => ({ power: 'observe' }));")
    home.settings(f'[hooks."{name}"]\nmode = "report"\n')

    assert [problem["remedy"] for problem in home.found()] == told


@NODE
def test_checking_writes_nothing_and_runs_no_hook(home: CommandHome) -> None:
    js(home, "one", "console.log('hello'); vera.hooks.registerPreTurn(keep); vera.hooks.registerSessionEnd(keep);")
    js(home, "bad", "throw new Error('no');")
    before = home.everything()

    home.run("hooks", "check")

    assert home.everything() == before


@NODE
def test_list_and_fire_tell_of_what_does_not_load(home: CommandHome) -> None:
    js(home, "bad", "throw new Error('no treasure');")
    js(home, "good", "vera.hooks.registerTurnFinished(() => { throw new Error('caw'); });")

    listed = home.run("hooks", "list", "--output", "jsonl")
    fired = home.fire("turn_finished")

    assert [(record["hook"], record["event"], record["timeout_ms"]) for record in listed.records] == [("good", "turn_finished", 10000)]
    assert fired.calls[0]["ended"] == "failed"
    for run in (listed, fired):
        assert "extension bad does not load: Error: no treasure" in run.err
