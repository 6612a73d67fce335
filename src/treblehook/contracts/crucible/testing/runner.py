"""`treblehook hooks test`: the `*_test.lua` of a plugin, each test in a machine of its own (crucible.md 12.4)."""

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from treblehook.contracts.crucible.plugins.discovery import FoundPlugin
from treblehook.contracts.crucible.plugins.source import SourceUnreadable, read_source
from treblehook.contracts.crucible.testing.results import Failure, TestResult
from treblehook.contracts.crucible.testing.stage import Stage
from treblehook.contracts.crucible.testing.virtual_loop import VirtualLoop
from treblehook.runtimes.lua import LuaFailed, LuaFunction

FOLDER: Final = "tests"
PATTERN: Final = "*_test.lua"
REAL_SECONDS: Final = 30.0
"""How long one test may really take."""
_CPU_SECONDS: Final = 5.0
"""How long a test may compute without waiting."""

Wanted = Callable[[str], bool]
Told = Callable[[TestResult], None]
T = TypeVar("T")


class _Test(Struct, frozen=True):
    name: str
    before: list[LuaFunction]
    after: list[LuaFunction]
    run: LuaFunction


def test_files(folder: Path) -> list[Path]:
    """The test files of the plugin in `folder`, by name."""
    return sorted((folder / FOLDER).glob(PATTERN))


def run_tests(found: FoundPlugin, folder: Path, wanted: Wanted, told: Told, real_seconds: float = REAL_SECONDS) -> None:
    """Run the tests whose `FILE: NAME` is `wanted`, one after the other; `told` hears of each as it ends. A file that does not load is one
    failed result, and the others go on."""
    for file in test_files(folder):
        run = _File(found, folder, file, real_seconds)
        for number, name in enumerate(run.names(told)):
            if wanted(f"{run.shown}: {name}"):
                told(run.result(number, name))


class _File:
    """One test file. It is evaluated anew for each test, so that no test sees what another one left."""

    def __init__(self, found: FoundPlugin, folder: Path, file: Path, real_seconds: float) -> None:
        self.shown = file.relative_to(folder).as_posix()
        self._found = found
        self._file = file
        self._real_seconds = real_seconds

    def names(self, told: Told) -> list[str]:
        """The names of its tests, none where it does not load, which is told."""
        output: list[str] = []

        async def look(stage: Stage) -> list[str]:
            try:
                return [test.name for test in self._described(stage)]
            finally:
                output.extend(stage.output)

        try:
            return self._on_stage(look)
        except SourceUnreadable as unreadable:
            told(TestResult(self.shown, "", "failed", message=str(unreadable)))
        except LuaFailed as failed:
            failure = self._failure(failed, None)
            told(TestResult(self.shown, "", "failed", failure.line, failure.message, output=tuple(output)))
        return []

    def result(self, number: int, name: str) -> TestResult:
        """Run one test."""

        async def run(stage: Stage) -> TestResult:
            try:
                tests = self._described(stage)
            except (LuaFailed, SourceUnreadable) as failed:
                return TestResult(self.shown, name, "failed", message=f"the file does not load again: {failed}")
            if number >= len(tests) or tests[number].name != name:
                return TestResult(self.shown, name, "failed", message="the file describes other tests each time that it is run")
            began = time.monotonic()
            failure = await self._within(stage, tests[number])
            ms = (time.monotonic() - began) * 1000
            if failure is None:
                line = stage.lua.defined_at(tests[number].run)[1]
                return TestResult(self.shown, name, "passed", line, ms=ms, output=tuple(stage.output))
            return TestResult(
                self.shown, name, "failed", failure.line, failure.message, failure.expected, failure.actual, ms, tuple(stage.output)
            )

        return self._on_stage(run)

    def _on_stage(self, play: Callable[[Stage], Awaitable[T]]) -> T:
        async def staged() -> T:
            stage = Stage(self._found, Path(scratch))
            try:
                return await play(stage)
            finally:
                await stage.close()

        with tempfile.TemporaryDirectory(prefix="treblehook-test-") as scratch, asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(staged())

    def _described(self, stage: Stage) -> list[_Test]:
        """Evaluate the file. Raises `LuaFailed`, `SourceUnreadable`."""
        chunk = stage.plugins.modules.load(self._found.name, read_source(self._file), self._file)
        stage.calling.now(chunk, about=stage.caller, cpu_seconds=_CPU_SECONDS)
        (described,) = stage.lua.run_now(stage.tests, cpu_seconds=_CPU_SECONDS)
        return [_Test(test["name"], list(test["before"]), list(test["after"]), test["run"]) for test in described]

    async def _within(self, stage: Stage, test: _Test) -> Failure | None:
        """Why the test failed; None where it passed. One that does not end is ended."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        task = loop.create_task(self._played(stage, test))
        loop.watch(self._real_seconds, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return Failure(f"the test did not end within {self._real_seconds:g} s", stage.lua.defined_at(test.run)[1])
        finally:
            loop.unwatch()

    async def _played(self, stage: Stage, test: _Test) -> Failure | None:
        failure = None
        for function in (*test.before, test.run):
            failure = await self._called(stage, function)
            if failure is not None:
                break
        for function in test.after:
            failed = await self._called(stage, function)
            failure = failure or failed
        return failure

    async def _called(self, stage: Stage, function: LuaFunction) -> Failure | None:
        stage.failed = None
        try:
            await stage.calling.waiting(function, about=stage.caller, seconds=math.inf, cpu_seconds=_CPU_SECONDS)
        except LuaFailed as failed:
            return self._failure(failed, stage.failed)
        return None

    def _failure(self, failed: LuaFailed, comparison: tuple[str, str | None, str | None] | None) -> Failure:
        """A failure in the words of a report: where it arose in this file the line says so, elsewhere the message does."""
        here = failed.file == str(self._file)
        message = failed.message.removeprefix(f"{self._file}:{failed.line}: ") if here else failed.message
        if comparison is not None and failed.message.endswith(comparison[0]):
            return Failure(message, failed.line if here else 0, comparison[1], comparison[2])
        return Failure(message, failed.line if here else 0)
