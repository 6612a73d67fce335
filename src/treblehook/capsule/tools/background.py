"""Commands that took longer than the agent waits: they go on, and what they write is kept in a log (murmur.md 4.2)."""

import asyncio
from pathlib import Path

from treblehook.agent.transcript.ids import new_id
from treblehook.capsule.workdir import Workdir, write_private
from treblehook.host.private import make_private_folder
from treblehook.host.tool import ToolOutput
from treblehook.host.tools.capture import Capture
from treblehook.lifecycle import PreparedCall
from treblehook.runtimes.process import Finished, ProcessError


class BackgroundCommands:
    """Those of one launch. `grace` is how long the agent waits for a command, in seconds."""

    def __init__(self, workdir: Workdir, grace: float) -> None:
        self.grace = grace
        self._workdir = workdir
        self._running: set[asyncio.Task[None]] = set()

    def take(self, running: "asyncio.Task[Finished]", prepared: PreparedCall, capture: Capture) -> ToolOutput:
        """Let a command go on; the model is told where it can read what comes of it. There is no shell outcome, and nobody observes one."""
        log = self._workdir.accessible / "logs" / f"{new_id('shell').replace('_', '-')}.log"
        task = asyncio.ensure_future(self._wait(running, prepared, capture, log))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return ToolOutput(
            f"The command is still running after {self.grace:g} s and goes on in the background. "
            f"When it is over, what it wrote and its exit status will be in {log.relative_to(self._workdir.accessible)}."
        )

    async def _wait(self, running: "asyncio.Task[Finished]", prepared: PreparedCall, capture: Capture, log: Path) -> None:
        try:
            status = f"exit status {(await running).status}"
        except ProcessError as error:
            status = str(error)
        except asyncio.CancelledError:
            running.cancel()
            raise
        try:
            make_private_folder(log.parent)
            write_private(log, f"{capture.text().rstrip()}\n[{status}]\n".lstrip())
        except OSError as error:
            self._workdir.bootstrap(f"what {prepared.executable} wrote in the background could not be kept: {error}")

    async def close(self) -> None:
        """End those that still run."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
