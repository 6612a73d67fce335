"""One agent in a throw-away HOME, with the scripted model server as its model and nothing of this machine's user."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_agents.agents import AGENTS
from tests.real_agents.install import programs
from tests.support.fake_model import FakeModel

PROMPT = "Do the thing."
TIME_LIMIT = 150.0
"""Seconds after which an agent is said to hang."""


@dataclass(frozen=True)
class Request:
    """What the model was asked: `turn` is the number of the reply within the script; `body` is as it was sent."""

    turn: int
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Everything that the model could read in it."""
        return "\n".join(_strings(self.body))


@dataclass(frozen=True)
class Ran:
    """A run that ended. `requests` are those that offered tools: requests for titles and the like are left out."""

    status: int
    stdout: str
    stderr: str
    requests: tuple[Request, ...]

    def told(self, text: str) -> bool:
        """Whether the model has read a text in any request after the first."""
        return any(text in request.text for request in self.requests if request.turn > 0)


class AgentHung(Exception):
    """The agent did not end within the time limit; it was killed."""

    def __init__(self, name: str, seconds: float, stdout: str, stderr: str) -> None:
        super().__init__(f"{name} did not end within {seconds:g} s\nstdout: {stdout}\nstderr: {stderr}")
        self.name, self.seconds, self.stdout, self.stderr = name, seconds, stdout, stderr


class Client:
    """An agent with its HOME and its workspace, set up to ask the scripted model; hooks are put in before `run`."""

    def __init__(self, name: str, folder: Path, model: FakeModel) -> None:
        self.name = name
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self._agent = AGENTS[name]
        self._folder = folder
        self._model = model
        self.workspace.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.workspace], check=True)
        for path, content in self._agent.files.items():
            file = self.home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._filled(content if isinstance(content, str) else json.dumps(content, indent=2)))

    def environ(self) -> dict[str, str]:
        """The whole environment of the agent; a program that installs hooks for it runs in the same one."""
        own = {name: self._filled(value) for name, value in self._agent.environ.items()}
        path = f"{programs(self.name)}{os.pathsep}{os.environ['PATH']}"
        return {"HOME": str(self.home), "LANG": "C.UTF-8", "PATH": path, "TERM": "dumb", **own}

    def run(
        self,
        script: object,
        prompt: str = PROMPT,
        *,
        arguments: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> Ran:
        """Run to the end. `arguments` come after the agent's own, `environ` is added to its environment. Raises `AgentHung`."""
        self._model.play(script)
        before = len(self._model.requests())
        argv = [prompt if word == "$PROMPT" else word for word in self._agent.arguments]
        status, stdout, stderr = self._start([*argv, *arguments], environ or {}, time_limit)
        asked = [row for row in self._model.requests()[before:] if row.get("route", "aux") != "aux"]
        return Ran(status, stdout, stderr, tuple(Request(row["turn"], row["body"]) for row in asked))

    def version(self) -> str:
        """What the agent says of its version, on stdout or (pi) on stderr."""
        return "".join(self._start(["--version"], {}, TIME_LIMIT)[1:])

    def _filled(self, text: str) -> str:
        return text.replace("$MODEL", self._model.url).replace("$WORKSPACE", str(self.workspace))

    def _start(self, arguments: Sequence[str], environ: Mapping[str, str], time_limit: float) -> tuple[int, str, str]:
        files = self._folder / "stdout", self._folder / "stderr"
        # Files, since a process that the agent leaves behind would hold a pipe open.
        with files[0].open("w") as stdout, files[1].open("w") as stderr:
            process = subprocess.Popen(
                [programs(self.name) / self._agent.program, *arguments],
                env={**self.environ(), **environ},
                cwd=self.workspace,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                process.wait(time_limit)
            except subprocess.TimeoutExpired:
                hung = True
            else:
                hung = False
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said, complained = (file.read_text(errors="replace") for file in files)
        if hung:
            raise AgentHung(self.name, time_limit, said, complained)
        return process.returncode, said, complained


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
