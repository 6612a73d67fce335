"""`cru.shell.spawn`: a program that runs beside its hook, its lines handed on as they come.

It belongs to the plugin: `kill`, a reload, the end of the machine and a `wait` that is given up end its whole process group.
"""

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.command import OUTPUT_BYTES, Command
from treblehook.contracts.crucible.library.kinds import COUNT, FUNCTION, OCTETS
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.live_process import InputClosed, LiveProcess
from treblehook.runtimes.lua import LuaFailed, LuaFunction, LuaRaise
from treblehook.runtimes.process import NotStarted
from treblehook.runtimes.process.values import Stream

_ENDED: Final = 100
"""How many ended programs that nobody has waited for are remembered."""


class Running:
    """One program, and who listens to it. `ended` becomes the exit status; without a listener the output is kept."""

    def __init__(self, library: Library, command: Command, on_line: LuaFunction | None) -> None:
        self.process = LiveProcess(command.argv, command.cwd, command.env, library.reaper)
        self._library = library
        self._caller: Caller = library.caller
        self._on_line = on_line
        self._kept: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._cut = False
        self.ended = library.owned.run(self._caller.owner, self._run(command))
        # A task that is cancelled before its first step never enters `run`.
        self.ended.add_done_callback(lambda _: self.process.close())

    async def _run(self, command: Command) -> int | None:
        async with asyncio.timeout(command.timeout):
            return await self.process.run(self._take)

    async def _take(self, stream: Stream, line: bytes) -> None:
        if self._on_line is None:
            kept = self._kept[stream]
            self._cut = self._cut or len(kept) + len(line) >= OUTPUT_BYTES
            kept += (line + b"\n")[: OUTPUT_BYTES - len(kept)]
            return
        try:
            await self._library.lua.run(self._on_line, stream, line, about=self._caller)
        except LuaFailed as failure:
            self._library.log("error", f"cru.shell.spawn: on_line: {failure.message}", self._caller)

    def result(self, status: int | None) -> Mapping[str, Any]:
        return {
            "success": status == 0,
            "exit_code": -1 if status is None else max(status, -1),
            "stdout": bytes(self._kept["stdout"]),
            "stderr": bytes(self._kept["stderr"]),
            "truncated": self._cut,
        }


class Spawned:
    """The programs of one machine, by number."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._numbers = count(1)
        self._running: dict[int, Running] = {}

    def start(self, *given: object) -> tuple[int, int]:
        call = Arguments("cru.shell.spawn", given)
        command = Command(self._library, call, "on_line")
        on_line = command.options.read("on_line", FUNCTION)
        try:
            running = Running(self._library, command, on_line)
        except NotStarted as error:
            call.refuse(str(error))
        number = next(self._numbers)
        self._running[number] = running
        self._forget_old()
        return number, running.process.pid

    async def wait(self, *given: object) -> Mapping[str, Any]:
        number, running = self._find("process:wait", given)
        try:
            await asyncio.wait([running.ended])
        except asyncio.CancelledError:
            running.ended.cancel()
            raise
        self._running.pop(number, None)
        if running.ended.cancelled():
            return running.result(None)
        try:
            return running.result(running.ended.result())
        except TimeoutError:
            raise LuaRaise("cru.shell.spawn: not finished in time, and ended") from None

    async def write(self, *given: object) -> None:
        _, running = self._find("process:write", given)
        try:
            await running.process.write(Arguments("process:write", given[1:]).take("text", OCTETS))
        except InputClosed:
            raise LuaRaise("process:write: the program does not read its input any more") from None

    def close_input(self, *given: object) -> None:
        self._find("process:close_input", given)[1].process.close_input()

    def kill(self, *given: object) -> None:
        number = Arguments("process:kill", given).take("process", COUNT)
        if number in self._running:
            self._running[number].ended.cancel()

    def _find(self, function: str, given: tuple[object, ...]) -> tuple[int, Running]:
        number = Arguments(function, given).take("process", COUNT)
        if number not in self._running:
            raise LuaRaise(f"{function}: the program has ended, and nobody waited for it in time")
        return number, self._running[number]

    def _forget_old(self) -> None:
        ended = [number for number, running in self._running.items() if running.ended.done()]
        for number in ended[: max(0, len(ended) - _ENDED)]:
            del self._running[number]


def install(library: Library) -> None:
    spawned = Spawned(library)
    library.provide_lua("cru.shell.spawn", "spawn", spawned.start, spawned.wait, spawned.write, spawned.close_input, spawned.kill)
