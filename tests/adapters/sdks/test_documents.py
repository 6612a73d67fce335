"""The examples of docs/adapters.md, as programs of their own, against the scripted model server."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fake_model import FakeModel, fake_model
from treblehook.adapters.missing import PACKAGES

__all__ = ["fake_model"]

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "adapters.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
SCRIPT = [{"tools": [{"name": "bash|Bash", "args": {"command": "rm treasure"}}]}, {"text": "It stays."}]
REASON = "Leave the treasure where it is."


def name_of(code: str) -> str:
    found = re.search(r"^from treblehook\.adapters\.(\w+) import", code, re.MULTILINE)
    assert found is not None
    return found.group(1)


def environment(model: FakeModel, folder: Path) -> dict[str, str]:
    """Nothing of a developer's own, and no telemetry."""
    quiet = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "1",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    return model.environ | quiet | {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def run(code: str, model: FakeModel, folder: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(model, folder), capture_output=True, text=True, timeout=100, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_adapter_has_an_example_and_its_versions() -> None:
    assert {name_of(code) for code in SNIPPETS} == set(PACKAGES)
    for package in PACKAGES.values():
        assert f"`{package}`" in DOCUMENT


@pytest.mark.parametrize("adapter", sorted(PACKAGES))
def test_an_untested_version_of_the_sdk_is_refused_with_what_to_install(adapter: str) -> None:
    code = f"from treblehook.adapters import missing; missing.version = lambda name: '0.0.1'; import treblehook.adapters.{adapter}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("treblehook.adapters.missing.SdkMissing: ")
    assert " 0.0.1 is installed" in last
    assert last.endswith(f"pip install '{PACKAGES[adapter]}'")


@pytest.mark.parametrize("code", [pytest.param(code, id=name_of(code)) for code in SNIPPETS if "Home" not in code])
def test_an_example_guards_the_treasure(code: str, fake_model: Callable[[object], FakeModel], tmp_path: Path) -> None:
    model = fake_model(SCRIPT)
    assert run(code, model, tmp_path).strip().endswith("It stays.")
    asked = [request["body"] for request in model.requests()]
    assert any(REASON in str(body) for body in asked)
    assert not any("ran rm" in str(body) for body in asked)


@pytest.mark.parametrize("code", [code for code in SNIPPETS if "Home" in code])
def test_an_example_with_a_home_leaves_a_trace(code: str, fake_model: Callable[[object], FakeModel], tmp_path: Path) -> None:
    model = fake_model({"turns": [{"text": "Under the third palm."}], "aux": None})
    assert run(code, model, tmp_path).strip() == "Under the third palm."
    [file] = (tmp_path / ".treblehook" / "sessions").glob("*.jsonl")
    assert "where is the treasure?" in file.read_text()


@pytest.mark.slow
# The types of six SDKs are read, unless `make test-adapters` has just done so.
@pytest.mark.timeout(600)
def test_the_examples_are_well_typed(tmp_path: Path) -> None:
    files = []
    for number, code in enumerate(SNIPPETS):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(code)
    command = [sys.executable, "-m", "mypy", "--cache-dir", ".cache/mypy-adapters", *map(str, files)]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
