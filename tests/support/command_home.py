"""A home on disk, and the real command run on it in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

MAIN = "from treblehook.cli.main import main; main(prog_name='treblehook')"
"""What the installed command does, for `python -c`."""


class Ran(NamedTuple):
    """What a run of the command left: its exit status and its two outputs."""

    status: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """stdout as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The `hook` records of a dry run."""
        return [record for record in self.records if record["type"] == "hook"]

    @property
    def outcome(self) -> dict[str, Any]:
        """The record that ends a dry run."""
        record = self.records[-1]
        assert record["type"] == "outcome"
        return record


class CommandHome:
    """A folder with hooks/; entries of config.json are added one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hooks = folder / "hooks"
        self.config = folder / "config.json"
        self.entries: list[dict[str, Any]] = []
        self.hooks.mkdir(parents=True)

    def script(self, name: str, body: str, *, first_line: str = "#!/bin/sh", mode: int = 0o755) -> Path:
        """Write an executable under hooks/."""
        path = self.hooks / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{first_line}\n{body}\n")
        path.chmod(mode)
        return path

    def entry(self, phase: str, name: str, **more: Any) -> None:
        """Add an entry to config.json."""
        self.entries.append({"phase": phase, "argv": [name], **more})
        self.config.write_text(json.dumps({"hooks": self.entries}))

    def hook(self, phase: str, name: str, body: str, **more: Any) -> None:
        """An executable with its entry; it has the longest time limit there is."""
        self.script(name, body)
        self.entry(phase, name, **{"timeout_ms": 30_000, **more})

    def claude(self, event: str, name: str, body: str, **more: Any) -> None:
        """An executable in the claude protocol with its entry."""
        self.hook(event, name, body, protocol="claude", **more)

    def settings(self, toml: str) -> None:
        """Write config.toml."""
        (self.folder / "config.toml").write_text(toml)

    def keeps_input(self, answer: object = None) -> str:
        """The body of a script that keeps what it is sent, and prints `answer` as JSON unless it is None."""
        return f"cat > {self.folder.parent}/input\n" + ("" if answer is None else f"cat <<'END'\n{json.dumps(answer)}\nEND")

    def kept_input(self) -> str:
        """What such a script was sent."""
        return (self.folder.parent / "input").read_text()

    def found(self) -> list[dict[str, Any]]:
        """What a check finds, as records."""
        return self.run("hooks", "check", "--output", "jsonl").records

    def only_problem(self) -> dict[str, Any]:
        """The one thing that a check finds."""
        [problem] = self.found()
        return problem

    def fire(self, event: str, *options: str) -> Ran:
        """A dry run with JSON lines."""
        return self.run("hooks", "fire", event, *options, "--output", "jsonl")

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> Ran:
        """Run `treblehook` with this home."""
        return self.bare_run(*arguments, "--home", str(self.folder), environment=environment)

    def bare_run(self, *arguments: str, environment: dict[str, str] | None = None) -> Ran:
        """Run `treblehook` with these arguments and no others."""
        command = [sys.executable, "-c", MAIN, *arguments]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})
        assert "Traceback" not in run.stderr, run.stderr
        return Ran(run.returncode, run.stdout, run.stderr)

    def everything(self) -> dict[str, bytes]:
        """Every file below the home, with its content."""
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


def says(answer: object) -> str:
    """The body of a script that reads its input and prints `answer` as JSON."""
    return f"cat >/dev/null\ncat <<'END'\n{json.dumps(answer)}\nEND"
