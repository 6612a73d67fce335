"""What a program has that drives an agent: a home, a workspace and a scripted model, all on disk."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_home import CommandHome
from treblehook import Home, Reply, Session

Record = dict[str, Any]


class Program:
    """The places of one program, all below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.files = CommandHome(folder / "home")
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.model = f"script:{folder / 'model.json'}"
        self._script = folder / "model.json"
        self.plays({"text": "Under the third palm."})

    def plays(self, *turns: Record, **more: Any) -> None:
        """What the model says, turn by turn."""
        self._script.write_text(json.dumps({"turns": turns, **more}))

    @property
    def places(self) -> dict[str, Any]:
        """The arguments of `run` that name all three."""
        return {"home": self.home, "workspace": self.workspace, "model": self.model}

    async def session(self, home: Home, **options: Any) -> Session:
        """A session in the workspace with the scripted model."""
        return await home.session(**{"workspace": self.workspace, "model": self.model, **options})


def bash(command: str, text: str = "") -> Record:
    """A turn that calls the tool."""
    return {"text": text, "tools": [{"name": "bash", "args": {"command": command}}]}


def of(reply: Reply, kind: str) -> list[Record]:
    """The records of one type in a reply."""
    return [record for record in reply.records if record["type"] == kind]
