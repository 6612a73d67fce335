"""What the sessions with MCP servers share."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.command_run import Stage
from tests.support.nest import nest
from tests.support.rows import Rows

__all__ = ["nest"]

TINY = [sys.executable, str(Path(__file__).parents[2] / "rig" / "tiny_mcp.py")]


class McpStage(Stage):
    """A stage whose home has the tiny server as `files`; the server's log is `heard`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.log = folder / "mcp.log"
        self.settings()

    def settings(self, more: str = "") -> None:
        """Write config.toml, with `more` at its end."""
        command, log = json.dumps(TINY), json.dumps(str(self.log))
        self.home.settings(f"[mcp.files]\ncommand = {command}\nenv = {{ TINY_MCP_LOG = {log} }}\n{more}")

    def heard(self, method: str) -> list[dict[str, object]]:
        """The parameters of the requests that the server got."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        return [line["params"] for line in lines if line.get("method") == method]


@pytest.fixture
def stage(tmp_path: Path) -> McpStage:
    return McpStage(tmp_path)


@pytest.fixture
async def rows() -> Rows:
    return Rows()
