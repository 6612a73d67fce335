"""A user's home with Treblehook and Claude Code in it, and a workspace with links that lead there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from treblehook.host.protected import Protection
from treblehook.lifecycle import ToolCall


class Land:
    """The folders, and calls that are made there."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.user = folder / "user"
        self.work = self.user / "work"
        self.work.mkdir(parents=True)
        (self.work / "src").mkdir()
        (self.user / ".claude" / "hooks").mkdir(parents=True)
        (self.user / ".claude" / "settings.json").write_text("{}")
        (self.work / "dotc").symlink_to("../.claude")
        (self.work / "chain").symlink_to("dotc")
        (self.work / "up").symlink_to("..")
        (self.work / "file").symlink_to("chain/settings.json")
        (self.work / "a link").symlink_to("../.claude")
        self.protection = Protection(self.user / ".treblehook", {"HOME": str(self.user), **environ})

    def call(self, tool: str, **given: Any) -> str | None:
        return self.protection.touched(ToolCall("c1", tool, given), self.work)

    def bash(self, command: str) -> str | None:
        return self.call("bash", command=command.replace("{user}", str(self.user)))


@pytest.fixture
def land(tmp_path: Path) -> Land:
    return Land(tmp_path.resolve(), {})
