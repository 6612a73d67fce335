"""Hook calls as the agents sent them: `captures/AGENT/EVENT.json`, and for single tools `captures/AGENT/by-tool/EVENT.TOOL.json`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).parent / "captures"


@dataclass(frozen=True)
class Sample:
    """One call: `name` is its file without `.json`, `event` the agent's event."""

    folder: str
    name: str
    event: str
    payload: dict[str, Any]

    def __str__(self) -> str:
        return self.name


def samples(folder: str) -> list[Sample]:
    """All calls of an agent, whose events have no dot in their names."""
    files = sorted((CAPTURES / folder).rglob("*.json"))
    assert files, folder
    return [Sample(folder, file.stem, file.stem.partition(".")[0], json.loads(file.read_text())) for file in files]


def sample(folder: str, name: str) -> Sample:
    """The call in the file `name`."""
    return next(one for one in samples(folder) if one.name == name)
