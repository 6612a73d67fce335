"""The captures of one agent by their files' names, such as `by-tool/PostToolUse.Bash.json`."""

import json
from typing import Any

from tests.gateway.samples import CAPTURES


class Captured:
    """Those of `agent`."""

    def __init__(self, agent: str) -> None:
        self._folder = CAPTURES / agent
        self.names = sorted(str(file.relative_to(self._folder)) for file in self._folder.rglob("*.json"))

    def __call__(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self._folder / name).read_text())
        return found


def event_of(name: str) -> str:
    """The agent's event that a file has a call of."""
    return name.rpartition("/")[2].split(".")[0]
