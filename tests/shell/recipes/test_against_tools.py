"""What a reader calls the body is what the real tool would run, or there is no answer."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.recipes.corpus import JUSTFILES, MAKEFILES, PACKAGES
from tests.support.needs import needs
from treblehook.shell.recipes import recipe_of

JUST = str(Path(sys.executable).with_name("just"))
"""What the package rust-just brings."""

CLEAN = {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def told(argv: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=cwd, env=CLEAN | {"HOME": str(cwd)}, capture_output=True, text=True, timeout=60)


def commands(body: str) -> list[str]:
    """The commands of a recipe as a tool shows them: continued lines joined, without the marks that it takes away."""
    joined = re.sub(r"\\\n\s*", "", body.replace("\r", ""))
    return [line.lstrip("@-") for line in joined.splitlines() if line.strip()]


@needs("make")
@pytest.mark.parametrize("name", MAKEFILES)
def test_make_would_run_that(tmp_path: Path, name: str) -> None:
    (tmp_path / "Makefile").write_bytes(MAKEFILES[name].encode())
    (tmp_path / "a.c").write_text("")

    found = recipe_of("make", ["build"], tmp_path, {})

    if found is not None:
        real = told(["make", "-n", "build"], tmp_path)
        assert real.returncode == 0, real.stderr
        assert commands(found) == commands(real.stdout)


@pytest.mark.parametrize("name", JUSTFILES)
def test_just_would_run_that(tmp_path: Path, name: str) -> None:
    (tmp_path / "justfile").write_bytes(JUSTFILES[name].encode())

    found = recipe_of("just", ["build"], tmp_path, {})

    if found is not None:
        real = told([JUST, "--dry-run", "--no-deps", "build"], tmp_path)
        assert real.returncode == 0, real.stderr
        assert commands(found) == commands(real.stderr)


@needs("npm")
@pytest.mark.parametrize("name", PACKAGES)
def test_npm_would_run_that(tmp_path: Path, name: str) -> None:
    (tmp_path / "package.json").write_text(PACKAGES[name])

    found = recipe_of("npm", ["run", "build"], tmp_path, {})

    if found is not None:
        scripts = json.loads(told(["npm", "run", "--json", "--no-update-notifier"], tmp_path).stdout)
        assert found == scripts["build"]
        assert not {"prebuild", "postbuild"} & scripts.keys()


def test_most_of_what_people_write_is_found(tmp_path: Path) -> None:
    """An answer that is never given would be right as well."""
    found = {}
    for tool, file, corpus in (("make", "Makefile", MAKEFILES), ("just", "justfile", JUSTFILES)):
        for name, text in corpus.items():
            (tmp_path / file).write_bytes(text.encode())
            found[tool, name] = recipe_of(tool, ["build"], tmp_path, {}) is not None

    assert sum(found.values()) > 50
    assert all(found["make", name] for name in ("plain", "several lines", "phony", "condition around something else", "assignments"))
    assert all(found["just", name] for name in ("plain", "tabs", "settings", "parameter with a default", "group", "dependency"))
