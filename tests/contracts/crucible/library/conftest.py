"""A real Lua machine with the whole library, for the tests of its functions."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.library import HttpClient, Library, Services, StorageFile, install
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.engine import Registry
from treblehook.runtimes.lua import LuaFailed, LuaFunction, LuaLimits, LuaVM
from treblehook.runtimes.process import ProcessRuntime

ALL = Caller(owner="demo", event="test", hook="demo")


class Rig:
    """A machine, and what it wrote to the log: (level, owner, text)."""

    def __init__(self, services: Services, kind: Any = "plugin", limits: LuaLimits | None = None) -> None:
        self.lines: list[tuple[str, str, str]] = []
        self.places: list[tuple[str, int | None]] = []
        self.services = services
        lua = LuaVM("test", limits=limits or LuaLimits(), output=print)
        self.vm = CrucibleVM(kind, lua, Registry(), self._log)
        self.library: Library = install(self.vm, services)

    def with_services(self, **changes: Any) -> "Rig":
        """A second machine, other services."""
        return Rig(msgspec.structs.replace(self.services, **changes))

    def function(self, source: str) -> LuaFunction:
        return self.vm.lua.load(source.encode(), "demo.lua")

    async def run(self, source: str, *values: Any, caller: Caller = ALL, seconds: float | None = None) -> Any:
        """What code returned that may wait; one value alone, several as a list."""
        results = await self.vm.lua.run(self.function(source), *values, about=caller, seconds=seconds)
        return results[0] if len(results) == 1 else results

    def run_now(self, source: str, *values: Any, caller: Caller = ALL) -> Any:
        """What code returned that may not wait."""
        results = self.vm.lua.run_now(self.function(source), *values, about=caller)
        return results[0] if len(results) == 1 else results

    async def refused(self, source: str, caller: Caller = ALL) -> str:
        """The message of the error that the code raised."""
        with pytest.raises(LuaFailed) as caught:
            await self.run(source, caller=caller)
        return caught.value.message

    def heard(self, level: str = "info") -> list[str]:
        return [text for kind, _, text in self.lines if kind == level]

    async def close(self) -> None:
        await self.library.close()
        self.vm.close()

    def _log(self, level: str, owner: str, text: str, file: str, line: int | None) -> None:
        self.lines.append((level, owner, text))
        self.places.append((file, line))


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with ProcessRuntime(at_once=64) as processes:
        yield Services(
            environ=dict(os.environ),
            processes=processes,
            http=HttpClient(),
            state=tmp_path / "state",
            storage=StorageFile(tmp_path / "state" / "storage.db"),
            settings={"demo": {"greeting": "ahoy", "crew": {"size": 3}}, "other": {"key": "o"}},
            kilns={"notes": tmp_path / "notes"},
            workspace=lambda session: tmp_path / session if session != "nowhere" else None,
            session_folder=lambda session: tmp_path / "sessions" / session,
        )


@pytest.fixture
async def rig(services: Services) -> AsyncIterator[Rig]:
    rig = Rig(services)
    yield rig
    await rig.close()
