"""A hook that was started: its one instance, asked one thing at a time (murmur.md 4.6)."""

import asyncio
from typing import Any

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.errors import HookUnusable
from treblehook.contracts.murmur.failures import call_failed
from treblehook.contracts.murmur.folders import granted_folders
from treblehook.contracts.murmur.imports.caller import Caller
from treblehook.contracts.murmur.imports.granted import host_interfaces
from treblehook.contracts.murmur.interfaces import export, exports
from treblehook.contracts.murmur.launch import Launch
from treblehook.contracts.murmur.network import admitting
from treblehook.contracts.murmur.services import MurmurServices
from treblehook.contracts.murmur.staging import StagedHook
from treblehook.runtimes.wasm import SEALED_WASI, CallEnded, CannotStart, Err, Grants, Instance, Ok, Wasi, WasmRuntime


class RunningHook:
    """`at_stage`: with the folders and the variables of `on-stage`."""

    def __init__(self, hook: StagedHook, runtime: WasmRuntime, launch: Launch, services: MurmurServices, *, at_stage: bool = False) -> None:
        self.manifest = hook.manifest
        self._hook = hook
        self._runtime = runtime
        self._launch = launch
        self._at_stage = at_stage
        self._caller = Caller(hook.manifest, hook.grant)
        self._interfaces = host_interfaces(self._caller, services)
        self._one_at_a_time = asyncio.Lock()
        self._instance: Instance | None = None

    async def open(self) -> None:
        """Start the instance. Raises `HookUnusable`."""
        manifest, limits = self.manifest, self._launch.limits
        folders = granted_folders(manifest, self._hook.grant, self._launch, at_stage=self._at_stage)
        variables = self._launch.variables(self._hook.grant, at_stage=self._at_stage)
        requests = admitting(self._hook.grant.network)
        grants = Grants(self._interfaces, Wasi(SEALED_WASI.groups, environ=variables, folders=folders, requests=requests))
        try:
            self._instance = await self._runtime.open(
                self._hook.component, exports(), grants, limits.of_instance(), seconds=limits.deadline_seconds
            )
        except (CallEnded, CannotStart) as error:
            raise HookUnusable(manifest.name, manifest.version, f"it does not start: {error}", "mend what it does as it starts") from error

    async def call(self, binding: Binding, record: dict[str, Any]) -> Ok | Err:
        """What the function of `binding` answers. Raises `CallFailed` for everything else, whatever it is."""
        try:
            if self._instance is None:
                raise RuntimeError("it was not started")
            async with self._one_at_a_time:
                self._caller.binding = binding
                answer = await self._instance.call(export(binding), record, seconds=self._launch.limits.deadline_seconds)
            if not isinstance(answer, Ok | Err):
                raise TypeError(f"it answered {answer!r}")
            return answer
        except Exception as error:
            raise call_failed(self.manifest.name, binding, error, self._launch.limits) from error

    async def close(self) -> None:
        """End the instance; twice is fine."""
        if self._instance is not None:
            await self._instance.close()
