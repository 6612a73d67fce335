"""Modules in a Node process, and an owner that keeps what it is told."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from treblehook.runtimes.node import Module, ModuleSpec, NodeRuntime, Patience, RequestFailed

QUICK = Patience(blocked=0.3, restarts=(0.01, 0.01, 0.01))
"""For tests in which something is to be found blocked, or to die."""


class NodeRig:
    """`module` writes modules; `start` runs them. `gone` are workers that ended, `deaths` the process's, `back` who was set up again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.gone: list[tuple[str, str]] = []
        self.deaths: list[str] = []
        self.back: list[str] = []
        self.requests: list[tuple[str, str, bytes]] = []
        self.answer: Callable[[bytes], Awaitable[bytes]] | None = None
        self.news = asyncio.Event()
        self._specs: list[ModuleSpec] = []
        self._runtimes: list[NodeRuntime] = []

    def module(self, name: str, functions: str, before: str = "") -> None:
        """A module whose functions are the members of an object literal; they may use `host`, `fs`, `workerData`."""
        file = self.folder / f"{name}.mjs"
        file.write_text(
            "import fs from 'node:fs';\nimport { workerData } from 'node:worker_threads';\n"
            f"{before}\nexport default (host) => ({{ {functions} }});\n"
        )
        self._specs.append(ModuleSpec(name, str(file), str(self.logs / f"{name}.log")))

    async def start(self, *, patience: Patience = QUICK, environ: Mapping[str, str] | None = None) -> NodeRuntime:
        """Start a runtime with the modules."""
        runtime = NodeRuntime(self._specs, self, environ=environ or os.environ, log=self.logs / "node.log", patience=patience)
        self._runtimes.append(runtime)
        await runtime.start()
        return runtime

    async def only(self, functions: str, *, before: str = "", patience: Patience = QUICK) -> Module:
        """Start a runtime with one module."""
        self.module("only", functions, before)
        [module] = (await self.start(patience=patience)).modules
        return module

    async def close(self) -> None:
        for runtime in self._runtimes:
            await runtime.close()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for news that make `condition` true."""
        while not condition():
            self.news.clear()
            await self.news.wait()

    # The owner

    async def request(self, module: Module, name: str, argument: bytes) -> bytes:
        self.requests.append((module.spec.name, name, argument))
        self.news.set()
        if name == "refuse":
            raise RequestFailed("no such thing")
        return argument if self.answer is None else await self.answer(argument)

    def ended(self, module: Module, why: str) -> None:
        self.gone.append((module.spec.name, why))
        self.news.set()

    async def again(self, module: Module) -> None:
        self.back.append(module.spec.name)
        self.news.set()

    def died(self, what: str) -> None:
        self.deaths.append(what)
        self.news.set()
