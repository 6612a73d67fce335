"""Files written to deceive: a reader says what the tool then runs, or nothing. Here the tools run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.recipes.hostile import JUSTFILES, MAKEFILES, NPM_SETTINGS, SAFE
from tests.support.needs import needs
from treblehook.shell.recipes import recipe_of

JUST = str(Path(sys.executable).with_name("just"))
EVIL = {"evil.mk": "build:\n\techo evil\n", "evil2.mk": "", "evil.just": "build:\n  echo evil\n", "a.just": "build:\n  echo evil\n"}
DECOYS = {"''a.just''": "build:\n  echo safe\n", "a\\u{2e}just": "build:\n  echo safe\n"}


def run(argv: list[str], folder: Path, **environ: str) -> str:
    clean = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)} | environ
    return subprocess.run(argv, cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60).stdout


def written(folder: Path, name: str, text: str) -> None:
    for other, content in (EVIL | DECOYS | {"a.c": "", name: text}).items():
        (folder / other).write_bytes(content.encode())


def told(body: str) -> str:
    """What the commands of a body write: each of them is an echo."""
    return "".join(f"{line.strip().removeprefix('echo ')}\n" for line in body.splitlines() if line.strip())


@needs("make")
@pytest.mark.parametrize("name", MAKEFILES)
def test_make_is_not_misread(tmp_path: Path, name: str) -> None:
    written(tmp_path, "Makefile", MAKEFILES[name])
    found = recipe_of("make", ["build"], tmp_path, {})

    assert found is None or told(found) == run(["make", "-s", "build"], tmp_path)


@needs("make")
@pytest.mark.parametrize("pattern", ["buil?", "[b]uild", "buil*"])
def test_a_target_that_is_a_glob_is_the_file_that_it_fits(tmp_path: Path, pattern: str) -> None:
    written(tmp_path, "Makefile", f".PHONY: build\n{SAFE}{pattern}: ; echo evil\n")
    (tmp_path / "build").write_text("")

    assert run(["make", "-s", "build"], tmp_path) == "evil\n"
    assert recipe_of("make", ["build"], tmp_path, {}) is None


@needs("make")
@pytest.mark.parametrize(("makefile", "source"), [(SAFE, "Makefile.sh"), (f"{SAFE}-include gen.mk\n", "gen.mk.sh")])
def test_a_makefile_that_make_makes_from_a_file_beside_it(tmp_path: Path, makefile: str, source: str) -> None:
    written(tmp_path, "Makefile", makefile)
    assert recipe_of("make", ["build"], tmp_path, {}) == "echo safe"

    (tmp_path / source).write_text("build: ; echo evil\n")
    os.utime(tmp_path / "Makefile", (1, 1))

    assert run(["make", "-s", "build"], tmp_path) == "evil\n"
    assert recipe_of("make", ["build"], tmp_path, {}) is None


@needs("make")
def test_paths_that_make_does_not_take_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "~").mkdir()
    for name in ("-", "~/Makefile"):
        (tmp_path / name).write_text(SAFE)

    for argv in (["-f", "-", "build"], ["-C", "~", "build"], ["-f", "~/Makefile", "build"], ["--file=~/Makefile", "build"]):
        assert "safe" not in run(["make", "-s", *argv], tmp_path, HOME="/nowhere")
        assert recipe_of("make", argv, tmp_path, {}) is None


@pytest.mark.parametrize("name", JUSTFILES)
def test_just_is_not_misread(tmp_path: Path, name: str) -> None:
    written(tmp_path, "justfile", JUSTFILES[name])
    found = recipe_of("just", ["build"], tmp_path, {})

    assert found is None or told(found) == run([JUST, "--quiet", "build"], tmp_path) or told(found) == run([JUST, "build"], tmp_path)


def test_a_recipe_with_a_slash_is_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "justfile").write_text("build:\n  echo evil\n")
    (tmp_path / "justfile").write_text("sub/build:\n  echo safe\n")

    assert run([JUST, "sub/build"], tmp_path) == "evil\n"
    assert recipe_of("just", ["sub/build"], tmp_path, {}) is None


def test_of_two_justfiles_there_is_none(tmp_path: Path) -> None:
    for name in ("justfile", "JustFile"):
        (tmp_path / name).write_text("build:\n  echo safe\n")

    assert recipe_of("just", ["build"], tmp_path, {}) is None


@needs("npm")
@pytest.mark.parametrize("setting", NPM_SETTINGS)
def test_npm_in_another_package(tmp_path: Path, setting: str) -> None:
    (tmp_path / "pk").mkdir()
    package = {"name": "a", "version": "1.0.0", "workspaces": ["pk"], "scripts": {"build": "echo safe"}}
    (tmp_path / "package.json").write_text(json.dumps(package))
    (tmp_path / "pk" / "package.json").write_text(json.dumps({"name": "pk", "version": "1.0.0", "scripts": {"build": "echo evil"}}))
    (tmp_path / ".npmrc").write_text("; mine\nfund=false\n//registry.example/:_authToken=${TOKEN}\n")
    assert recipe_of("npm", ["run", "build"], tmp_path, {}) == "echo safe"

    (tmp_path / ".npmrc").write_text(f"{setting}\n")

    assert "evil" in run(["npm", "run", "build", "--silent"], tmp_path)
    assert recipe_of("npm", ["run", "build"], tmp_path, {}) is None


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        *(("make", name) for name in ("MAKEFILES", "MAKEFLAGS", "GNUMAKEFLAGS")),
        *(("just", name) for name in ("JUST_JUSTFILE", "JUST_JUSTFILE_NAME", "JUST_WORKING_DIRECTORY")),
        *(("npm", name) for name in ("npm_config_workspace", "NPM_CONFIG_WORKSPACES", "npm_config_prefix", "npm_config_userconfig")),
    ],
)
def test_variables_that_lead_elsewhere(tmp_path: Path, tool: str, name: str) -> None:
    written(tmp_path, "Makefile", SAFE)
    (tmp_path / "justfile").write_text("build:\n  echo safe\n")
    (tmp_path / "package.json").write_text('{"scripts": {"build": "echo safe"}}')
    argv = ["run", "build"] if tool == "npm" else ["build"]

    assert recipe_of(tool, argv, tmp_path, {name: ""}) == "echo safe"
    assert recipe_of(tool, argv, tmp_path, {name: "x.mk --eval=x"}) is None


@pytest.mark.parametrize("flags", ["s", "kw", " -j2 --jobserver-auth=3,4", "--no-print-directory", " -j --jobserver-auth=fifo:/tmp/x"])
def test_the_make_that_this_runs_in_is_no_hindrance(tmp_path: Path, flags: str) -> None:
    written(tmp_path, "Makefile", SAFE)

    assert recipe_of("make", ["build"], tmp_path, {"MAKEFLAGS": flags}) == "echo safe"


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    assert recipe_of("just", ["-d", "gone", "build"], tmp_path, {}) is None
