"""The Node runtime: one process with a worker for each module, kept running, and what it means when one of them ends."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import UNSET

from treblehook.runtimes.node.errors import NodeError
from treblehook.runtimes.node.lines import FromProcess
from treblehook.runtimes.node.locate import candidates, is_new_enough, unavailable
from treblehook.runtimes.node.module import Module, ModuleSpec
from treblehook.runtimes.node.process import CannotStart, NodeProcess
from treblehook.runtimes.node.values import PATIENCE, Patience


class Owner(Protocol):
    """Whoever has modules run."""

    async def request(self, module: Module, name: str, argument: bytes) -> bytes:
        """Answer a module's request with JSON. Raises `RequestFailed`."""

    def ended(self, module: Module, why: str) -> None:
        """The worker of `module` is gone for good; the others go on."""

    async def again(self, module: Module) -> None:
        """The process has been started again, and `module` in it: set it up as at first. Raises nothing."""

    def died(self, what: str) -> None:
        """The process has died; `what` says how, and whether it is started again."""


class NodeRuntime:
    """Runs `modules`, one for each of `specs`, from `start` to `close`.

    A worker that crashes, exits, writes what it must not or blocks its event loop is ended alone, and for good. A process that
    dies is started again, after growing pauses and not for ever, with the modules that had not ended.
    """

    def __init__(self, specs: Sequence[ModuleSpec], owner: Owner, *, environ: Mapping[str, str], log: Path, patience: Patience = PATIENCE):
        self.modules = [Module(spec, number, patience, owner.request, self.end) for number, spec in enumerate(specs)]
        self._owner = owner
        self._environ = environ
        self._log = log
        self._patience = patience
        self._program: str | None = None
        self._process: NodeProcess | None = None
        self._hello: asyncio.Future[str] | None = None
        self._exited = asyncio.Event()
        self._up = asyncio.Event()
        self._given_up: str | None = None
        self._fate = ""
        self._deaths: deque[float] = deque()
        self._keeper: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return None if self._process is None else self._process.child.pid

    async def start(self) -> None:
        """Start the process. Raises `NodeUnavailable`."""
        refused: dict[str, str] = {}
        for program in candidates(self._environ):
            problem = await self._try(program)
            if problem is None:
                self._program = program
                self._up.set()
                self._keeper = asyncio.ensure_future(self._keep())
                return
            refused[program] = problem
        self._given_up = "the Node process could not be started"
        raise unavailable(refused)

    async def ready(self) -> None:
        """Wait until the process runs, or is not started again. Raises `NodeError` for the latter."""
        await self._up.wait()
        if self._given_up is not None:
            raise NodeError(self._given_up)

    def end(self, module: Module, why: str) -> None:
        """End the worker of `module` for good, and tell its owner."""
        if module.ended is None:
            self.retire(module, why)
            self._owner.ended(module, why)

    def retire(self, module: Module, why: str) -> None:
        """End the worker of `module` for good, as its owner wishes."""
        module.ended = why
        module.detach(why)
        if self._process is not None:
            self._process.end_worker(module.number)

    async def close(self) -> None:
        """End the process within bounds; twice is fine."""
        self._closing = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        for module in self.modules:
            module.detach("the Node process was closed")
            module.ended = module.ended or "the Node process was closed"
        await self._stop()

    async def _try(self, program: str) -> str | None:
        """Start `program`; answers why it will not do, or None."""
        self._hello = asyncio.get_running_loop().create_future()
        self._exited.clear()
        alive = [module for module in self.modules if module.ended is None]
        try:
            self._process = NodeProcess(program, alive, self._environ, self._log, self._heard, self._exit)
        except CannotStart as error:
            return error.why
        try:
            async with asyncio.timeout(self._patience.start):
                version = await self._hello
        except TimeoutError:
            problem = f"did not start within {self._patience.start:g} s"
        except NodeError as error:
            problem = error.why
        else:
            if is_new_enough(version):
                return None
            problem = f"is {version}"
        self._part("the Node process could not be started")
        await self._stop()
        return problem

    def _heard(self, message: FromProcess) -> None:
        if message.hello and self._hello is not None and not self._hello.done():
            self._hello.set_result(message.hello)
        if message.ended is not UNSET and message.ended < len(self.modules):
            self.end(self.modules[message.ended], message.why)

    def _exit(self) -> None:
        if self._process is not None:
            self._fate = self._process.fate()
        self._exited.set()
        if self._hello is not None and not self._hello.done():
            self._hello.set_exception(NodeError(f"{self._fate} as it started"))

    def _part(self, why: str) -> None:
        """No module has a worker now."""
        for module in self.modules:
            module.detach(why)

    async def _stop(self) -> None:
        """Make the process exit, and collect it."""
        process = self._process
        if process is None:
            return
        process.hang_up()
        try:
            async with asyncio.timeout(self._patience.close):
                await self._exited.wait()
        except TimeoutError:
            process.kill()
            async with asyncio.timeout(self._patience.close):
                await self._exited.wait()
        finally:
            process.let_go()
            self._process = None

    async def _keep(self) -> None:
        """Whenever the process has died, start it again."""
        assert self._program is not None, "only what was started is started again"
        while True:
            await self._exited.wait()
            busy = ", ".join(module.spec.name for module in self.modules if module.busy)
            what = f"the Node process {self._fate}" + (f" while it ran {busy}" if busy else "")
            self._up.clear()
            self._part(what)
            await self._stop()
            pause = self._pause()
            if pause is None or all(module.ended is not None for module in self.modules):
                self._give_up(what)
                return
            self._owner.died(f"{what}; it is started again")
            await asyncio.sleep(pause)
            problem = await self._try(self._program)
            if problem is not None:
                self._fate = problem
                self._exited.set()
                continue
            self._up.set()
            await self._set_up_again()

    async def _set_up_again(self) -> None:
        for module in self.modules:
            if module.ended is None and not self._exited.is_set():
                await self._owner.again(module)

    def _pause(self) -> float | None:
        """Seconds before the next start; None where it has died too often."""
        now = asyncio.get_running_loop().time()
        while self._deaths and now - self._deaths[0] > self._patience.forgotten:
            self._deaths.popleft()
        self._deaths.append(now)
        deaths, pauses = len(self._deaths), self._patience.restarts
        return pauses[deaths - 1] if deaths <= len(pauses) else None

    def _give_up(self, what: str) -> None:
        self._given_up = what
        for module in self.modules:
            module.ended = module.ended or what
        self._up.set()
        self._owner.died(f"{what}; it is not started again")
