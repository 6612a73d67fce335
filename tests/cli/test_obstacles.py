"""What is in the way is told in one line that names it: a folder that is gone, a full disk, a default that cannot be used."""

import subprocess

import pytest

from tests.support.command_run import COMMAND, Stage, said


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["run", "--home", "{home}", "--model", "script:{model}", "ahoy"], "--workspace"),
        (["run", "--home", "{home}", "--workspace", ".", "--model", "script:{model}", "ahoy"], "--workspace"),
        (["run", "--home", "home", "--workspace", "{home}", "--model", "script:{model}", "ahoy"], "--home"),
        (["run", "--home", "{home}", "--workspace", "{home}", "--model", "script:model.json", "ahoy"], "script:model.json"),
        (["hooks", "fire", "pre_turn", "--home", "{home}"], "--workspace"),
        (["hooks", "list", "--home", "."], "--home"),
    ],
)
def test_a_relative_path_in_a_folder_that_was_deleted_is_told_in_a_line(stage: Stage, arguments: list[str], missing: str) -> None:
    filled = [word.format(home=stage.home.folder, model=stage.model) for word in arguments]
    script = f'cd "{stage.workspace}" && rmdir "{stage.workspace}" && exec "$@"'

    done = subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, *filled], capture_output=True, text=True, check=False, env=stage.environment()
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert missing in done.stderr
    assert "the current folder does not exist any more" in done.stderr
    assert stage.sessions() == []


@pytest.mark.parametrize(
    "arguments", [["run", "ahoy"], ["hooks", "list"], ["trace", "last"], ["demo"], ["run", "--output", "jsonl", "ahoy"]]
)
def test_an_output_on_a_full_disk_is_told_in_a_line(stage: Stage, arguments: list[str]) -> None:
    stage.plays({"text": "Aye."})
    stage.home.hook("pre_turn", "lookout", 'echo \'{"power":"observe"}\'')
    assert stage.run("run", "ahoy").status == 0
    argv = stage.arguments(*arguments) if arguments[0] == "run" else [*COMMAND, *arguments]

    with open("/dev/full", "w") as full:
        environment = stage.environment(TREBLEHOOK_HOME=str(stage.home.folder))
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment)

    assert done.returncode == 1
    (line,) = said(done.stderr)
    assert line in ("error: standard output: No space left on device", "error: cannot write: No space left on device")


@pytest.mark.parametrize("spec", ["oracle", "oracle:x", "script:nowhere.json", "anthropic:"])
def test_a_default_model_that_cannot_be_opened_is_told_with_its_place(stage: Stage, spec: str) -> None:
    stage.home.settings(f"[model]\ndefault = '{spec}'")

    ran = stage.bare("run", "--home", str(stage.home.folder), "ahoy")

    assert ran.status == 2
    assert ran.err.startswith(f"error: {stage.home.folder}/config.toml: model.default: model '{spec}': ")
    assert stage.sessions() == []
