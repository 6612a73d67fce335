"""The real components of the shipped hooks, staged as an operator would list them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.guests import CODE
from tests.support.murmur_rig import MurmurRig
from treblehook.contracts.murmur.artifact import read_artifact
from treblehook.contracts.murmur.grant import Grant, read_grant
from treblehook.contracts.murmur.shipped import shipped_hooks
from treblehook.contracts.murmur.staging import HookEntry
from treblehook.lifecycle import PreparedCall, Refuse, ShellGate, ToolCall, ToolGate
from treblehook.runtimes.wasm import WasmRuntime


class ShippedRig(MurmurRig):
    """A launch with one or more shipped hooks."""

    def ship(self, name: str, **entry: Any) -> None:
        """List a shipped hook; `entry` are the keys of its entry, as `config` and `capabilities`."""
        grant, problems = read_grant(entry, "murmur.yaml", "artifacts[0]")
        assert problems == []
        self.list_grant(name, grant)

    def list_grant(self, name: str, grant: Grant) -> None:
        self._listed.append((HookEntry(name, grant=grant), read_artifact(shipped_hooks()[name], name, "")))

    async def shell(self, executable: str, *argv: str, script: str | None = None, recipe: str | None = None) -> str | None:
        """Why a command is refused, or None."""
        prepared = PreparedCall(executable.rpartition("/")[2], " ".join(argv), executable, argv, script=script, recipe=recipe)
        outcome = await self.fire(ShellGate(call=ToolCall("c1", "bash", {}), prepared=prepared))
        assert outcome.decision is None or isinstance(outcome.decision, Refuse)
        return None if outcome.decision is None else outcome.decision.reason

    async def bash(self, script: str) -> str | None:
        """Why a script is refused, or None."""
        return await self.shell("/usr/bin/bash", "-c", script, script=script)

    async def tool(self, name: str, given: Any) -> str | None:
        """Why a tool call is refused, or None; `given` is its input, or the text of it."""
        text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        outcome = await self.fire(ToolGate(call=ToolCall("c1", name, {}), input_json=text))
        assert outcome.decision is None or isinstance(outcome.decision, Refuse)
        return None if outcome.decision is None else outcome.decision.reason


Ship = Callable[[Path], ShippedRig]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[ShippedRig]:
    async with WasmRuntime(CODE) as runtime:
        rig = ShippedRig(tmp_path, runtime)
        yield rig
        await rig.close()
