"""What an extension's `activate` is given, and what it registered (vera.md 5.3, 5.4)."""

import os
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from treblehook.contracts.claude.events import ALIASES, EVENTS
from treblehook.contracts.vera.extensions.manifest import Manifest
from treblehook.contracts.vera.hook_entries import DEFAULT_TIMEOUT_MS, HookEntry
from treblehook.contracts.vera.json_text import encoded, shown
from treblehook.contracts.vera.limits import ARGV_BYTES, LONGEST_TIMEOUT_MS, MOST_ARGUMENTS
from treblehook.contracts.vera.phases import FUNCTION_PHASES, PHASES

CAPABILITIES: Final = (*(f"hooks.{phase}" for phase in FUNCTION_PHASES), "hooks.command", "sessions.ask")
"""What a manifest can declare to use it here; a manifest may name others, which gives it nothing (vera.md 5.1)."""

_RULES: Final = {
    "phases": {"vera": list(PHASES), "claude": [*EVENTS, *ALIASES]},
    "arguments": MOST_ARGUMENTS,
    "argvBytes": ARGV_BYTES,
    "defaultMs": DEFAULT_TIMEOUT_MS,
    "longestMs": LONGEST_TIMEOUT_MS,
}
"""What `registerCommand` checks at once."""


class ConfigUnusable(Exception):
    """An extension cannot be given its configuration."""


class Registered(Struct, frozen=True):
    """One call of a register function. `number` is how the worker knows it; a function has no `argv`."""

    number: int
    phase: str
    argv: tuple[str, ...] = ()
    protocol: Literal["vera", "claude"] = "vera"
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    def entry(self) -> HookEntry:
        """The executable as an entry of config.json would have it; argv is used as it was given."""
        return HookEntry("", self.phase, self.argv, self.argv[0], self.protocol, self.timeout_ms)


def activate_argument(manifest: Manifest, config: Any) -> bytes:
    """The argument of the worker's `activate`, as JSON."""
    return encoded({"entry": manifest.entry, "config": config, "capabilities": manifest.capabilities, "rules": _RULES})


def registered(value: bytes) -> tuple[Registered, ...]:
    """What `activate` registered, in order."""
    return msgspec.json.decode(value, type=tuple[Registered, ...])


def with_environment(config: Any, environ: Mapping[str, str], place: str = "config") -> Any:
    """A copy of `config` in which every object `{"env": NAME}` is that variable's value. Raises ConfigUnusable for one that is not
    set."""
    if isinstance(config, list):
        return [with_environment(value, environ, f"{place}[{index}]") for index, value in enumerate(config)]
    if not isinstance(config, dict):
        return config
    name = config.get("env")
    if len(config) != 1 or not isinstance(name, str):
        return {key: with_environment(value, environ, f"{place}.{key}") for key, value in config.items()}
    if name not in environ:
        raise ConfigUnusable(f"{place} is the environment variable {shown(name)}, which is not set")
    # Bytes that are not UTF-8 arrive as half surrogates, which no JSON can hold.
    return os.fsencode(environ[name]).decode("utf-8", "replace")
