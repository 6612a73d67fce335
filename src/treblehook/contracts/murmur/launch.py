"""What is the same for all hooks of a launch: its facts, its folders, its variables and its limits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.payloads import LaunchFacts
from treblehook.runtimes.wasm import Limits

CONFIG_VARIABLE: Final = "MURMUR_ARTIFACT_CONFIG"
_FORMATION: Final = "MURMUR_FORMATION_ID"
_VARIABLES: Final = ("MURMUR_OTEL_ENDPOINT", _FORMATION, "MURMUR_EVAL_CONFIG", "MURMUR_CASE_ID", "MURMUR_DATASET_ID")


class HookLimits(Struct, frozen=True):
    """`capabilities.limits`, for one call and for one instance (murmur.md 2.8)."""

    deadline_seconds: float = 30.0
    memory_bytes: int = 536_870_912
    table_elements: int = 100_000
    instances: int = 1000

    def of_instance(self) -> Limits:
        return Limits(memory_bytes=self.memory_bytes, table_elements=self.table_elements, instances=self.instances)


class Launch(Struct, frozen=True):
    """The session workdir is the root of a hook's files at `on-stage`, the accessible one at every other event; `state` is the folder of
    durable stores. Of `environment` only what the contract names reaches a hook."""

    facts: LaunchFacts
    session_workdir: Path
    accessible_workdir: Path
    state: Path
    environment: Mapping[str, str] = {}
    limits: HookLimits = HookLimits()

    def variables(self, grant: Grant, *, at_stage: bool) -> dict[str, str]:
        """All that a hook finds in its environment (murmur.md 7.6)."""
        own = {} if grant.config is None else {CONFIG_VARIABLE: grant.config}
        names = (_FORMATION,) if at_stage else _VARIABLES
        return own | {name: self.environment[name] for name in names if name in self.environment}
