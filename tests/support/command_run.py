"""The real command with a scripted model, in a process of its own that a test can talk to, signal and wait for."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.command_home import CommandHome, Ran

Record = dict[str, Any]
COMMAND = (sys.executable, "-m", "treblehook")


class Stage:
    """A home, a workspace and a scripted model, all below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = CommandHome(folder / "home")
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.model = folder / "model.json"
        self.plays()

    def plays(self, *turns: Record, **more: Any) -> None:
        """What the model says, turn by turn."""
        self.model.write_text(json.dumps({"turns": turns, **more}))

    def arguments(self, *arguments: str) -> list[str]:
        """A command line with this home, workspace and model."""
        places = ["--home", str(self.home.folder), "--workspace", str(self.workspace), "--model", f"script:{self.model}"]
        return [*COMMAND, arguments[0], *places, *arguments[1:]]

    def environment(self, **more: str) -> dict[str, str]:
        """This process's environment, with nothing in it that a home or a terminal is chosen by."""
        kept = {name: value for name, value in os.environ.items() if name not in ("TREBLEHOOK_HOME", "NO_COLOR", "COLUMNS", "LINES")}
        return {**kept, "HOME": str(self.folder), **more}

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Run the command to its end, without a terminal."""
        return self.bare(*self.arguments(*arguments)[len(COMMAND) :], stdin=stdin, **environment)

    def bare(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Run the command with these arguments alone."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.workspace,
            env=self.environment(**environment),
            start_new_session=True,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> "Running":
        """Start the command; it is to write JSON lines."""
        return Running(self.arguments(*arguments, "--output", "jsonl"), self.folder / "stderr", self.environment())

    def sessions(self) -> list[Path]:
        """The session files, the oldest first."""
        return sorted((self.home.folder / "sessions").glob("*.jsonl"))


class Running:
    """A command that is running. Its records are read one by one."""

    def __init__(self, argv: list[str], errors: Path, environment: dict[str, str]) -> None:
        self._errors = errors
        with errors.open("wb") as stderr:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment, start_new_session=True
            )

    def send(self, *lines: Record | str) -> None:
        """Write lines to its input."""
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)).encode() + b"\n")
        self.process.stdin.flush()

    def close_input(self) -> None:
        """There is no more input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def records(self) -> Iterator[Record]:
        """The records from here on, as they come."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            assert line.endswith(b"\n"), f"no whole line: {line!r}"
            yield json.loads(line)

    def until(self, kind: str, **keys: Any) -> list[Record]:
        """The records up to the next one of type `kind` in which `keys` have these values."""
        found = []
        for record in self.records():
            found.append(record)
            if record["type"] == kind and all(record[key] == value for key, value in keys.items()):
                return found
        raise AssertionError(f"no {kind} {keys}, but {[record['type'] for record in found]}; {self._errors.read_text()}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it alone."""
        self.process.send_signal(number)

    def end(self) -> tuple[int, list[Record], str]:
        """Wait for its end: exit status, the records that were left, and what it wrote to stderr."""
        left = list(self.records())
        return self.process.wait(), left, self._errors.read_text()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for something that no output tells of. The test's time limit guards against waiting for ever."""
    while not condition():
        time.sleep(0.005)


def calls(*commands: str, text: str = "") -> Record:
    """A turn of the model that calls `bash`."""
    return {"text": text, "tools": [{"name": "bash", "args": {"command": command}} for command in commands]}


def types(records: list[Record]) -> list[str]:
    """The types of records, in order."""
    return [record["type"] for record in records]


def only(records: list[Record], kind: str) -> Record:
    """The one record of a type."""
    (found,) = [record for record in records if record["type"] == kind]
    return found


def said(text: str) -> list[str]:
    """The lines of an output, without those that depend on how fast the machine is."""
    return [line for line in text.splitlines() if not line.startswith("waiting for ")]
