"""An agent that asks our gateway: a home with hooks in its HOME, `treblehook install` into its configuration, and the daemon."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.real_agents.launch import Client
from tests.support.processes import alive
from treblehook.gateway.install.places import settings_file
from treblehook.gateway.place import socket_path

HANG_SECONDS = 120


class Guarded:
    """An agent with a home of ours, `client.home/.treblehook`; hooks are put into it before `install`.

    Treblehook is run from a virtual environment of its own, so that a test can take it away: `unreachable`.
    """

    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        self.home = client.home / ".treblehook"
        self._folder = folder
        self._engine = _virtual_environment(folder / "engine")
        self._hooks: list[dict[str, Any]] = []
        self._served: subprocess.Popen[bytes] | None = None
        self.config("")

    def config(self, text: str) -> None:
        """What config.toml says, beside a port of its own."""
        self.write("config.toml", f"[web]\nport = {_free_port()}\n\n{text}")

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        """A file of the home."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def executable(self, phase: str, name: str, text: str, **entry: object) -> None:
        """A hook of the vera contract."""
        self.write(f"hooks/{name}", text, 0o755)
        self._hooks.append({"phase": phase, "argv": [name], "timeout_ms": 30_000, **entry})
        self.write("config.json", json.dumps({"hooks": self._hooks}))

    def extension(self, name: str, text: str, *phases: str) -> None:
        """An extension of the vera contract, in Python."""
        facts = {"id": f"test.{name}", "version": "1.0.0", "sdk": "1", "entrypoint": "main.py", "contributes": {}}
        manifest = {**facts, "capabilities": [f"hooks.{phase}" for phase in phases]}
        self.write(f"extensions/{name}/vera.extension.json", json.dumps(manifest))
        self.write(f"extensions/{name}/main.py", text)

    def treblehook(self, *arguments: str) -> str:
        """Run the command to its end, as the agent's user would; what it says. It must succeed."""
        ran = self._run(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def install(self) -> str:
        """Put the gateway into the agent's configuration, with the agent's own trust step; what the command says."""
        trust = ["--trust-hooks"] if self.client.name == "codex" else []
        return self.treblehook("install", self.client.name, "--yes", *trust)

    def serve(self) -> int:
        """Start the daemon, as its user would; its process, once it listens."""
        self._served = subprocess.Popen(
            [self._engine, "-m", "treblehook", "serve"],
            env=self.client.environ(),
            cwd=self.client.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._served.stdout is not None
        assert self._served.stdout.readline()
        return self._served.pid

    def daemon(self) -> int | None:
        """The process that serves the home now."""
        try:
            told = json.loads((self.home / "serve.lock").read_text())
        except (FileNotFoundError, ValueError):
            return None
        return told["pid"] if alive(told["pid"]) else None

    def kill_daemon(self) -> None:
        """It dies where it stands, and its socket stays behind."""
        pid = self.daemon()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        self._wait_for(pid)
        assert socket_path(self.home).is_socket()

    def unreachable(self) -> None:
        """No daemon answers, and Treblehook cannot be run any more: nobody can start one, or ask the hooks in another way."""
        self.kill_daemon()
        self._engine.unlink()

    def broken(self) -> None:
        """No daemon runs, none can start, and the hooks cannot be asked in another way: the home does not load."""
        self.write("config.toml", "not = [toml\n")

    def lines(self) -> list[str]:
        """The command lines of ours in the agent's configuration; none for an agent that loads code."""
        file = settings_file(self.client.name, self.client.environ())
        settings = json.loads(file.read_text()) if file.suffix == ".json" else {}
        found = (handler.get("command") or handler.get("bash") for handler in _handlers(settings))
        return [line for line in found if line and "client.py" in line]

    def records(self) -> list[dict[str, Any]]:
        """What the sessions of the home have on record, that of each in order."""
        files = sorted((self.home / "sessions").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def close(self) -> None:
        """Let nothing outlive the test."""
        pid = self.daemon()
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            self._wait_for(pid)
        # A daemon that was killed leaves it behind, outside of the test's folder where that has a long path.
        socket_path(self.home).unlink(missing_ok=True)

    def _wait_for(self, pid: int) -> None:
        if self._served is not None and self._served.pid == pid:
            self._served.wait(HANG_SECONDS)
            assert self._served.stdout is not None
            self._served.stdout.close()
        until = time.monotonic() + HANG_SECONDS
        while alive(pid):
            assert time.monotonic() < until, f"process {pid} does not end"
            time.sleep(0.01)

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self._engine, "-m", "treblehook", *arguments],
            env=self.client.environ(),
            cwd=self.client.workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )


def _handlers(value: object) -> Iterator[dict[str, Any]]:
    """Every object somewhere in a settings file."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _handlers(each)


def _virtual_environment(folder: Path) -> Path:
    """The Python of a virtual environment with the packages of the one that runs the tests."""
    python = folder / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.symlink_to(Path(sys.executable).resolve())
    (folder / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    (folder / "lib").symlink_to(Path(sys.prefix) / "lib")
    return python


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
