"""Somebody who has agents and a home of hooks: a HOME of their own, the real command in it, and the daemon that it starts."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.support.command_home import Ran
from tests.support.daemons import end_daemons
from treblehook.gateway.install.places import settings_file

GUARD = """
cru.on("pre_tool_call", { pattern = "bash" }, function(ctx, event)
  if event.args.command:find("treasure") then return { cancel = true, reason = "Leave it." } end
end)
"""
"""`init.lua` with a closed hook."""

COMMAND = (sys.executable, "-m", "treblehook")


class AgentUser:
    """`folder` is their HOME; the home of hooks in it has nothing that is closed, and a port of its own."""

    def __init__(self, folder: Path, home: str = ".treblehook") -> None:
        self.folder = folder
        self.home = folder / home
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self.home.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (self.home / "config.toml").write_text(f"[web]\nport = {self.port}\n")

    def guards(self) -> None:
        """From now on there is a closed hook."""
        (self.home / "init.lua").write_text(GUARD)

    def environ(self, **more: str) -> dict[str, str]:
        """The environment of everything that they start; nothing of this machine's user is in it."""
        return {"HOME": str(self.folder), "LANG": "C.UTF-8", "PATH": os.environ["PATH"], "TERM": "dumb", **more}

    def file(self, agent: str) -> Path:
        """The file of an agent's configuration that is changed."""
        return settings_file(agent, self.environ())

    def has(self, agent: str, content: str | bytes | object) -> Path:
        """What an agent's file holds; a value that is no text is written as JSON."""
        file = self.file(agent)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content, indent=2)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def run(self, *arguments: str, home: Path | None = None, **environ: str) -> Ran:
        """Run `treblehook` without a terminal, with their home or another."""
        command = [*COMMAND, *arguments, "--home", str(home or self.home)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self.work, env=self.environ(**environ), stdin=subprocess.DEVNULL
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def everything(self, folder: Path) -> dict[str, tuple[int, bytes | str]]:
        """What is below a folder: mode bits and content, a link's target, nothing for a folder."""
        found: dict[str, tuple[int, bytes | str]] = {}
        for path in sorted((folder, *folder.rglob("*"))):
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
        return found

    def stop(self) -> None:
        """End the daemon, if one has been started."""
        end_daemons(self.home)


U = TypeVar("U", bound=AgentUser)


@contextmanager
def agent_user(user: U) -> Iterator[U]:
    """One whose daemon ends with the test."""
    try:
        yield user
    finally:
        user.stop()
