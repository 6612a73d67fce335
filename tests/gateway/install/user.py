"""A user with agents and a home of hooks, in this process."""

import json
import stat
from pathlib import Path
from typing import Any

from treblehook.gateway.install.entries import HttpAccess
from treblehook.gateway.install.installing import Change, Gateway, carry_out, plan_install, plan_uninstall
from treblehook.gateway.install.places import DIALECTS, settings_file
from treblehook.gateway.install.record import Record
from treblehook.gateway.lines import ClientPlace
from treblehook.lifecycle import Event

KEY = "0123456789abcdef"

OWN = {
    "claude-code": '{\n    "model": "opus", "hooks": {"PreToolUse": [], "Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}',
    "codex": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}\n',
    "gemini": '// my settings\r\n{\r\n\t"ui": {}, // plain\r\n\t"hooks": { /* none yet */ }\r\n}\r\n',
    "qwen": '{\n  "hooks": {\n    "Stop": [\n      // nothing\n    ]\n  }\n}',
    "copilot": '{"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "mine"}]}}',
}
"""What stands in the files of agents before anything is installed."""


class User:
    """Has agents below `folder`, and a home of hooks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / ".treblehook"
        self.gateway = gateway(self.home)

    def file(self, agent: str) -> Path:
        return settings_file(agent, {"HOME": str(self.folder)})

    def has(self, agent: str, text: str, mode: int = 0o644) -> Path:
        file = self.file(agent)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def plan(self, agent: str) -> Change:
        file = self.file(agent)
        return plan_install(agent, file, self.gateway, Record(self.home).find(agent, file))

    def install(self, agent: str) -> Change:
        change = self.plan(agent)
        carry_out(change, Record(self.home))
        return change

    def uninstall(self, agent: str) -> tuple[str, ...]:
        file = self.file(agent)
        return carry_out(plan_uninstall(agent, file, self.home, Record(self.home).find(agent, file)), Record(self.home))

    def handlers(self, agent: str) -> dict[str, Any]:
        """By event, the last handler in an agent's file."""
        hooks = json.loads(self.file(agent).read_text())["hooks"]
        return {event: listed[-1]["hooks"][-1] if DIALECTS[agent].grouped else listed[-1] for event, listed in hooks.items()}

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Everything of the agents: mode bits and content."""
        paths = [path for path in self.folder.rglob("*") if self.home not in (path, *path.parents)]
        return {str(path.relative_to(self.folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths}


def gateway(home: Path, *closed: type[Event], curl: str | None = "/usr/bin/curl", key: str = KEY) -> Gateway:
    return Gateway(ClientPlace(home, home / "gateway.sock", curl), frozenset(closed), HttpAccess("http://127.0.0.1:8777", key))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
