"""The Python in the documents is run as it stands there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = ("README.md", "docs/python.md", "docs/hooks.md", "docs/extensions.md")


def snippets() -> list[tuple[str, str]]:
    found = []
    for document in DOCUMENTS:
        for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL), 1):
            found.append((f"{document} {number}", code))
    return found


def run(code: str, folder: Path) -> str:
    (folder / "treasure.json").write_text(json.dumps([{"text": "Under the third palm."}]))
    environment = {name: value for name, value in os.environ.items() if name != "TREBLEHOOK_HOME"} | {"HOME": str(folder)}
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_documents_have_python() -> None:
    assert {place.split()[0] for place, _ in snippets()} == set(DOCUMENTS)


@pytest.mark.parametrize("code", [pytest.param(code, id=place) for place, code in snippets()])
def test_a_snippet_runs(code: str, tmp_path: Path) -> None:
    run(code, tmp_path)


def test_what_the_readme_says_comes_out(tmp_path: Path) -> None:
    readme = [code for place, code in snippets() if place.startswith("README.md")]

    out = "".join(run(code, tmp_path) for code in readme)

    assert out.splitlines() == [
        "finished Under the third palm.",
        "Under the third palm. ['session', 'prompt', 'reply']",
        "Block(reason='not today')",
    ]


@pytest.mark.slow
def test_the_snippets_are_well_typed(tmp_path: Path) -> None:
    for number, (_, code) in enumerate(snippets()):
        (tmp_path / f"snippet_{number}.py").write_text(code)
    cache = str(ROOT / ".cache" / "mypy-snippets")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", cache, *sorted(os.listdir(tmp_path))]

    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout
