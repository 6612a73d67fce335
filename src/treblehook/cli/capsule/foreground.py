"""One launch of a capsule in the foreground: however it ends, it ends properly."""

import asyncio
import os
import signal
from pathlib import Path

from msgspec import Struct

from treblehook.agent.models import open_model
from treblehook.agent.session import EndReason
from treblehook.agent.transcript import TranscriptFailed
from treblehook.capsule.launch import CapsuleLaunch, LaunchEnd, LaunchWish, tasks_beside
from treblehook.capsule.manifest.opening import Opened, open_capsule
from treblehook.capsule.model_spec import model_spec
from treblehook.cli.capsule.progress import CompilationProgress
from treblehook.cli.failures import EXPECTED, FAILED, INTERRUPTED, lines_of
from treblehook.cli.output.choice import Shape, choose_output, standard_streams
from treblehook.cli.signals import Signals
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.home.home import Home
from treblehook.host.problems import ConfigInvalid, Problem

NOT_STAGED = 2


class RunFlags(Struct, frozen=True):
    """What a user wants of a launch."""

    file: Path
    tasks: tuple[str, ...]
    home: Path
    workdir: Path | None
    model: str | None
    output: Shape


class Foreground:
    """A first Ctrl-C, SIGTERM or SIGHUP ends the launch with its end hooks and its trace, a second one kills the process."""

    def __init__(self, flags: RunFlags) -> None:
        self._flags = flags
        self._out, err = standard_streams()
        self._output = choose_output(flags.output, self._out, err)
        self._work: asyncio.Task[int] | None = None
        self._reason: EndReason = "detached"
        self._why = ""

    async def run(self) -> int:
        """Run it; answers the exit status: 0 finished, 1 a task failed, 2 not staged, 130 interrupted."""
        self._work = asyncio.ensure_future(self._launched())
        with Signals(self._stop, lambda: None):
            self._out.on_lost = lambda: self._stop_for("detached", self._out.fault or "nobody reads the output any more")
            try:
                status = await self._work
            except asyncio.CancelledError:
                status = INTERRUPTED
            finally:
                self._output.close()
        if self._out.fault:
            self._output.problem(f"error: standard output: {self._out.fault}")
            return FAILED
        return status

    def _stop(self, number: signal.Signals) -> None:
        by = "the user" if number == signal.SIGINT else number.name
        self._stop_for("shutdown" if number == signal.SIGTERM else "detached", f"stopped by {by}")

    def _stop_for(self, reason: EndReason, why: str) -> None:
        if self._work is not None:
            self._reason, self._why = reason, why
            self._work.cancel()

    async def _launched(self) -> int:
        try:
            opened = open_capsule(self._flags.file, self._flags.home / "cache" / "capsules")
            for warning in opened.warnings:
                self._output.problem(f"{warning.level}: {warning}")
            async with Home(self._flags.home, os.environ) as home:
                return await self._in(home, opened)
        except (*EXPECTED, StagingFailed) as error:
            return self._told(error)

    def _told(self, error: Exception) -> int:
        for line in lines_of(error):
            self._output.problem(line)
        return FAILED if isinstance(error, TranscriptFailed) else NOT_STAGED

    async def _in(self, home: Home, opened: Opened) -> int:
        told = self._tell_problems(home, 0)
        launch = CapsuleLaunch(
            home,
            opened,
            self._wish(home, opened),
            self._output,
            compiling=CompilationProgress(self._output.problem),
            ended=self._output.turn_ended,
        )
        await launch.stage()
        told = self._tell_problems(home, told)
        failed: Exception | None = None
        try:
            await launch.take_tasks()
        except asyncio.CancelledError:
            pass
        except Exception as error:
            failed = error
        finally:
            # From here on the launch is ending, and nothing but a second signal stops that.
            self._work = None
        ended = await launch.finish(self._reason, failed=failed, interrupted=self._why)
        self._tell_problems(home, told)
        return self._status(ended, failed)

    def _status(self, ended: LaunchEnd, failed: Exception | None) -> int:
        if failed is not None:
            if not isinstance(failed, EXPECTED):
                raise failed
            self._told(failed)
            return FAILED
        if ended.end.status == "interrupted":
            self._output.turn_ended(ended.end)
            return INTERRUPTED
        if ended.end.status == "refused":
            self._output.problem(f"error: a hook refused the session: {ended.end.reason}")
        return 0 if ended.end.status == "finished" else FAILED

    def _wish(self, home: Home, opened: Opened) -> LaunchWish:
        """Raises `ConfigInvalid` and `ModelSpecInvalid`."""
        model = self._flags.model or model_spec(opened) or home.settings.model.default
        file = str(opened.manifest.file)
        if model is None:
            raise ConfigInvalid([Problem(file, "inference.model", "no model is named", "name one, or pass --model SPEC")])
        open_model(model, environ=home.environ)
        try:
            tasks = tasks_beside(self._flags.tasks, opened.beside)
        except OSError as error:
            what = f"there is no task: {error.strerror}"
            remedy = "write it there, or give it on the command line"
            raise ConfigInvalid([Problem(str(opened.beside / "task.md"), "", what, remedy)]) from error
        blank = [task for task in tasks if not task.strip()]
        if blank:
            raise ConfigInvalid([Problem(str(opened.beside / "task.md"), "", "the task is blank", "say what is to be done")])
        return LaunchWish(tasks, model, None if self._flags.workdir is None else self._flags.workdir.absolute())

    def _tell_problems(self, home: Home, told: int) -> int:
        for problem in home.problems[told:]:
            self._output.problem(f"{problem.level}: {problem}")
        return len(home.problems)
