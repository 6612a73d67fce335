"""A capsule's manifest as values (murmur.md 2.6, 8.1)."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from treblehook.home.components.entries import ArtifactEntry


class Limits(Struct, frozen=True):
    """`capabilities.limits`; None for what is not set."""

    deadline_seconds: float | None = None
    memory_bytes: int | None = None
    table_elements: int | None = None
    instances: int | None = None


class Context(Struct, frozen=True):
    """`context`: the window in tokens, the part of it that a seed may take, by what part of that it may be over, and whether what is
    said is kept for hooks to read."""

    max_tokens: int | None = None
    seed_budget: float = 0.10
    seed_overflow_margin: float = 0.10
    record: bool = True


class Compaction(Struct, frozen=True):
    """`inference.compaction`: at which part of the window hooks are asked, and what they are told."""

    threshold: float = 0.98
    model: str | None = None
    system_prompt: str | None = None
    dump_summaries: bool = False


class Inference(Struct, frozen=True):
    """`inference`; `model` is a SPEC."""

    model: str | None = None
    max_turns: int = 10
    compaction: Compaction = Compaction()


class Lifecycle(Struct, frozen=True):
    """`lifecycle`: whether tasks of one launch share a conversation, how often one is reopened, when a command goes to the background."""

    threaded: bool = False
    max_task_reopens: int = 1
    shell_grace_secs: float = 10.0


class CapsuleManifest(Struct, frozen=True):
    """A capsule. `capabilities` are the categories under which something is granted, `shell_allow` the names of its shell tools,
    `environment` what hooks are told of observability."""

    file: Path
    name: str
    version: str
    artifacts: tuple[ArtifactEntry, ...] = ()
    shell_allow: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    limits: Limits = Limits()
    context: Context = Context()
    inference: Inference = Inference()
    lifecycle: Lifecycle = Lifecycle()
    environment: dict[str, str] = {}
    capture: Literal["none", "meta", "content"] = "meta"
