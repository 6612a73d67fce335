"""A capsule in a folder of its own: launches in this process with the scripted model, real components and real files."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.command_home import CommandHome
from tests.support.nest import Ears
from treblehook.agent.models.model import ModelQuery, ModelReply
from treblehook.agent.steps import TurnEnd
from treblehook.capsule.launch import CapsuleLaunch, LaunchEnd, LaunchWish
from treblehook.capsule.manifest.opening import open_capsule
from treblehook.home.home import Home
from treblehook.runtimes.wasm import Compiling

Line = dict[str, Any]


class CapsuleRig:
    """`manifest` is written by `launch`, unless there is a `packed` one; hooks and tools are folders beside it. `queries` is what the model
    was sent.

    After a launch its trace, logs and results are read from its workdir.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = CommandHome(folder / "home")
        self.place = folder / "capsule"
        self.place.mkdir()
        self.ears = Ears()
        self.queries: list[ModelQuery] = []
        self.specs: list[str] = []
        self.replies: list[ModelReply] = []
        self.before_reply: Callable[[ModelQuery], Awaitable[None]] | None = None
        self.compiled: list[tuple[str, Compiling]] = []
        self.ends: list[TurnEnd] = []
        self.manifest: dict[str, Any] = {
            "name": "nest",
            "version": "0.1.0",
            "capabilities": {"shell": {"allow": ["bash", "echo"]}},
            "artifacts": [],
        }
        self.started: CapsuleLaunch | None = None
        self.given_workdir: Path | None = None
        self.packed: Path | None = None
        self.on_staged: Callable[[CapsuleLaunch], None] = lambda launch: None
        self.plays()

    def plays(self, *turns: Line, **more: Any) -> None:
        """What the model says, turn by turn."""
        (self.folder / "model.json").write_text(json.dumps({"turns": turns, **more}))

    def sets(self, **parts: Any) -> None:
        """Parts of the manifest; a table is joined with the one that is there."""
        for key, value in parts.items():
            there = self.manifest.get(key)
            self.manifest[key] = {**there, **value} if isinstance(there, dict) and isinstance(value, dict) else value

    def hook(self, name: str, payload: bytes, *, manifest: str = "", entry: Mapping[str, Any] | None = None, **contract: str) -> None:
        """List a hook; `contract` is `binding`, `mode` and `policy` of its own manifest, `manifest` more text of that."""
        folder = self.place / "hooks" / name
        folder.mkdir(parents=True)
        keys = {"mode": "execution_mode", "policy": "commit_policy"}
        text = f"name: {name}\nversion: 1.0.0\nruntime: hook\n"
        text += "".join(f"{keys.get(key, key)}: {value}\n" for key, value in contract.items())
        (folder / "murmur.yaml").write_text(text + manifest)
        (folder / "hook.wasm").write_bytes(payload)
        listed = {"name": name, "version": "1.0.0", "runtime": "hook", "source": f"hooks/{name}"}
        self.manifest["artifacts"].append({**listed, **(entry or {})})

    def tool(self, name: str, script: str, manifest: str = "") -> None:
        """List a tool that is a script."""
        folder = self.place / "tools" / name
        folder.mkdir(parents=True)
        (folder / "murmur.yaml").write_text(f"name: {name}\nversion: 1.0.0\nruntime: tool\n{manifest}")
        (folder / name).write_text(script)
        self.manifest["artifacts"].append({"name": name, "version": "1.0.0", "source": f"tools/{name}"})

    @property
    def file(self) -> Path:
        """The manifest's file."""
        return self.place / "murmur.yaml"

    def write(self) -> Path:
        """Write the manifest."""
        self.file.write_text(yaml.safe_dump(self.manifest, sort_keys=False))
        return self.file

    async def stage(self, home: Home, *tasks: str) -> CapsuleLaunch:
        """Stage a launch."""
        self.write()
        wish = LaunchWish(tasks or ("dig",), f"script:{self.folder / 'model.json'}", self.given_workdir)
        opened = open_capsule(self.packed or self.file, self.home.folder / "cache" / "capsules")
        self.started = CapsuleLaunch(
            home, opened, wish, self.ears, compiling=lambda *told: self.compiled.append(told), ended=self.ends.append
        )
        await self.started.stage()
        return self.started

    async def launch(self, *tasks: str) -> LaunchEnd:
        """Stage a launch, take its tasks and end it."""
        async with Home(self.home.folder, os.environ) as home:
            launch = await self.stage(home, *tasks)
            self.on_staged(launch)
            failed: Exception | None = None
            interrupted = ""
            try:
                await launch.take_tasks()
            except asyncio.CancelledError:
                interrupted = "stopped by the test"
            except Exception as error:
                failed = error
            ended = await launch.finish("closed", failed=failed, interrupted=interrupted)
            if failed is not None:
                raise failed
            return ended

    # What it left

    @property
    def session(self) -> Path:
        """The session workdir."""
        assert self.started is not None
        return self.started.workdir.session

    @property
    def work(self) -> Path:
        """The accessible workdir."""
        assert self.started is not None
        return self.started.workdir.accessible

    def trace(self, *types: str) -> list[Line]:
        """The lines of the trace, of all types or of these."""
        lines = [json.loads(line) for line in (self.session / "trace.jsonl").read_text().splitlines()]
        return [line for line in lines if not types or line["event_type"] in types]

    def types(self) -> list[str]:
        """The types of the lines, in order."""
        return [line["event_type"] for line in self.trace()]

    def only(self, event_type: str) -> Line:
        """The only line of a type."""
        (line,) = self.trace(event_type)
        return line

    def log(self, hook: str) -> list[str]:
        """The lines of a hook's log."""
        file = self.session / "logs" / f"hook-{hook}.log"
        return file.read_text().splitlines() if file.exists() else []

    def bootstrap(self) -> str:
        """The log of what the runtime decided."""
        return (self.session / "logs" / "bootstrap.log").read_text()

    def results(self) -> list[Line]:
        """The results of tool calls."""
        return self.ears.of("tool_result")


def call(name: str, **arguments: Any) -> Line:
    """One tool call of a turn of the model."""
    return {"name": name, "args": arguments}


def calls(*each: Line, text: str = "") -> Line:
    """A turn of the model that calls tools."""
    return {"text": text, "tools": list(each)}
