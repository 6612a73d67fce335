"""The entries of a config.json as sessions ask them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from treblehook.contracts.claude.events import event_of
from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.hook_entries import HookEntry
from treblehook.contracts.vera.phases import PHASES, Phase
from treblehook.engine import Mode


class Entry(Struct, frozen=True):
    """One entry: `event` is the contract's name of what it is asked about, `sessions` those in which it is."""

    hook: HookEntry
    event: str
    phase: Phase
    sessions: Literal["every", "user", "spawned"]
    mode: Mode

    @property
    def obeyed(self) -> bool:
        """Whether what it answers counts."""
        return self.mode is Mode.ON


def entries_of(config: VeraConfig, modes: Mapping[str, Mode]) -> list[Entry]:
    """The entries in list order; `modes` is by hook name."""
    found = []
    for hook in config.hooks:
        mode = modes.get(hook.name, Mode.ON)
        if hook.protocol == "claude":
            event = event_of(hook.phase)
            found.append(Entry(hook, event.name, PHASES[event.phase], event.sessions, mode))
        else:
            found.append(Entry(hook, hook.phase, PHASES[hook.phase], "every", mode))
    return found


def content_of(hook: HookEntry) -> bytes | None:
    """The bytes of the executable: none where they may not be read, None where nothing is there that could run."""
    try:
        return Path(hook.executable).read_bytes()
    except PermissionError:
        return b""
    except OSError:
        return None
