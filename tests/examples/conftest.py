"""Copies of the examples, since their hooks write into their home."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Place:
    """A workspace and a scripted model, and the home that is an example's copy."""

    def __init__(self, example: str, folder: Path) -> None:
        self.home = folder / "home"
        self.model = folder / "model.json"
        workspace = folder / "workspace"
        workspace.mkdir()
        shutil.copytree(EXAMPLES / example, self.home)
        config = json.loads((self.home / "config.json").read_text())
        for entry in config["hooks"]:
            # A slow machine must not fail a test.
            entry["timeout_ms"] = 30_000
        self.config(config["hooks"])
        self.arguments: dict[str, Any] = {"home": self.home, "workspace": workspace, "model": f"script:{self.model}"}

    def config(self, hooks: list[dict[str, Any]]) -> None:
        (self.home / "config.json").write_text(json.dumps({"hooks": hooks}))

    def plays(self, *turns: dict[str, Any]) -> None:
        self.model.write_text(json.dumps(turns))


@pytest.fixture
def place(tmp_path: Path) -> Callable[[str], Place]:
    def make(example: str) -> Place:
        return Place(example, tmp_path)

    return make
