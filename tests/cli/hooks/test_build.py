"""`treblehook hooks new --wasm NAME` and `hooks build`: from nothing to a package that answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_home import MAIN, CommandHome
from tests.support.guests import CODE
from tests.support.murmur_rig import SHELL_GATE
from treblehook.contracts.murmur.authoring.firing import fire_component
from treblehook.contracts.murmur.grant import Grant
from treblehook.lifecycle import PreparedCall, ShellGate, ToolCall
from treblehook.runtimes.wasm import WasmRuntime

SHELL = ShellGate(
    call=ToolCall("c1", "bash", {}),
    prepared=PreparedCall("bash", "rm -r treasure", "/usr/bin/bash", ("-c", "rm -r treasure"), script="rm -r treasure"),
)
FILES = {"Makefile", "README.md", "hook.py", "murmur.yaml", "murmur_hook.py", "test_hook.py"}


def test_a_new_project_is_made_where_one_stands_and_its_tests_pass(home: CommandHome, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    command = [sys.executable, "-c", MAIN, "hooks", "new", "--wasm", "look-out"]
    made = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)

    folder = place / "look-out"
    assert made.stdout.splitlines() == [
        f"{folder} is a hook now. Test it: python3 -m unittest discover {folder}",
        f"Build it: treblehook hooks build {folder}",
    ]
    assert {file.name for file in folder.iterdir()} == FILES
    assert "NAME" not in (folder / "README.md").read_text()
    tested = subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=False)
    assert (tested.returncode, "Ran 3 tests" in tested.stderr) == (0, True)


@pytest.mark.slow
async def test_its_package_answers(home: CommandHome, tmp_path: Path) -> None:
    pytest.importorskip("componentize_py")
    home.run("hooks", "new", "--wasm", "look-out", "--in", str(tmp_path))
    folder = tmp_path / "look-out"

    built = home.bare_run("hooks", "build", str(folder))

    assert (built.status, built.err) == (0, "")
    assert built.out.endswith(f"{folder / 'look-out-1.0.0.mur.zip'} is the package\n")
    async with WasmRuntime(CODE) as runtime:
        answer = await fire_component(folder / "look-out-1.0.0.mur.zip", SHELL, runtime)
        assert (answer.arm, answer.value, answer.refuses) == ("deny", "Leave the treasure where it is.", True)
        other = await fire_component(folder, SHELL, runtime, grant=Grant(config='{"guarded":"map"}'))
        assert (other.arm, other.refuses) == ("none", False)
        assert (await fire_component(folder / "look-out.wasm", SHELL_GATE, runtime)).arm == "none"


def test_what_cannot_be_built_is_told_in_a_line(home: CommandHome, tmp_path: Path) -> None:
    built = home.bare_run("hooks", "build", str(tmp_path))

    assert built.status == 1
    assert built.err.splitlines() == [
        f"error: {tmp_path}/murmur.yaml: it cannot be read: No such file or directory; make a project with treblehook hooks new --wasm NAME"
    ]


def test_without_a_compiler_it_says_what_to_install(home: CommandHome, tmp_path: Path) -> None:
    home.run("hooks", "new", "--wasm", "lookout", "--in", str(tmp_path))
    blocker = tmp_path / "blocked"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text("import sys\nsys.modules['componentize_py'] = None\n")

    built = home.bare_run("hooks", "build", str(tmp_path / "lookout"), environment={"PYTHONPATH": f"{blocker}{os.pathsep}"})

    assert built.status == 1
    assert "componentize-py, which makes a component of it, is not installed; pip install 'treblehook[wasm-build]'" in built.err


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "../x", "x" * 101])
def test_a_name_that_no_hook_may_have(home: CommandHome, name: str) -> None:
    made = home.run("hooks", "new", "--wasm", name)

    assert made.status == 2
    assert "lower-case letters, digits and -" in made.err
