"""What the operator allows one hook; nothing that it does not name (murmur.md 2.6, 7)."""

import posixpath
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from treblehook.contracts.murmur.network import Origin, parse_origin
from treblehook.host.problems import Problem

CONFIG_BYTES: Final = 65_536
_INERT: Final = ("shell", "spawn", "env", "limits", "resources", "containment")
_KNOWN: Final = ("network", "filesystem", "state", "task_io", "conversation")


class Grant(Struct, frozen=True):
    """The grant of one hook. `scope` is a folder below the hook's root, `state` the name of a durable store, "" for the capsule's own;
    None where there is none. `config` is the text of `MURMUR_ARTIFACT_CONFIG`."""

    network: tuple[Origin, ...] = ()
    scope: str | None = None
    state: str | None = None
    task_io: bool = False
    conversation: bool = False
    config: str | None = None


def read_grant(entry: dict[str, Any], file: str, place: str) -> tuple[Grant, list[Problem]]:
    """The grant in an operator's entry for a hook, and everything that is wrong with it. `place` is the entry's, as `artifacts[2]`."""
    reading = _Reading(file, place)
    capabilities = reading.table(entry, "capabilities", place)
    at = f"{place}.capabilities"
    grant = Grant(
        network=tuple(reading.network(capabilities, at)),
        scope=reading.scope(capabilities, at),
        state=reading.state(capabilities, at),
        task_io=reading.may_read(capabilities, "task_io", at),
        conversation=reading.may_read(capabilities, "conversation", at),
        config=reading.config(entry),
    )
    reading.others(capabilities, at)
    return grant, reading.problems


class _Reading:
    def __init__(self, file: str, place: str) -> None:
        self.file = file
        self.place = place
        self.problems: list[Problem] = []

    def wrong(self, place: str, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(self.file, place, message, remedy))

    def table(self, values: dict[str, Any], key: str, place: str) -> dict[str, Any]:
        value = values.get(key)
        if value is None:
            return {}
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return value
        self.wrong(f"{place}.{key}", f"found {value!r}", "allowed: a table")
        return {}

    def network(self, capabilities: dict[str, Any], place: str) -> Iterator[Origin]:
        block = self.table(capabilities, "network", place)
        entries = block.get("allow", [])
        if not isinstance(entries, list):
            self.wrong(f"{place}.network.allow", f"found {entries!r}", "allowed: a list of hosts")
            return
        for index, entry in enumerate(entries):
            try:
                if not isinstance(entry, str):
                    raise ValueError(f"found {entry!r}; allowed is a text")
                yield parse_origin(entry)
            except ValueError as error:
                self.wrong(f"{place}.network.allow[{index}]", f"E-CAP-001: {error}")

    def scope(self, capabilities: dict[str, Any], place: str) -> str | None:
        if "filesystem" not in capabilities:
            return None
        scope = self.table(capabilities, "filesystem", place).get("scope")
        if scope is None:
            return None
        if isinstance(scope, str) and scope and "\0" not in scope:
            path = posixpath.normpath(scope)
            if not posixpath.isabs(path) and path != ".." and not path.startswith("../"):
                return path
        self.wrong(
            f"{place}.filesystem.scope",
            f"E-CAP-002: found {scope!r}",
            "allowed: a relative folder that stays inside, as hook-state",
        )
        return None

    def state(self, capabilities: dict[str, Any], place: str) -> str | None:
        if "state" not in capabilities:
            return None
        store = self.table(capabilities, "state", place).get("store", "")
        if isinstance(store, str) and all(character.isalnum() or character in "-_" for character in store):
            return store
        self.wrong(f"{place}.state.store", f"found {store!r}", "allowed: letters, digits, - and _")
        return None

    def may_read(self, capabilities: dict[str, Any], key: str, place: str) -> bool:
        if key not in capabilities:
            return False
        block = capabilities[key]
        if isinstance(block, dict) and isinstance(block.get("read"), bool):
            return bool(block["read"])
        self.wrong(f"{place}.{key}", f"E-MAN-003: found {capabilities[key]!r}", "spell it out: read: true or read: false")
        return False

    def config(self, entry: dict[str, Any]) -> str | None:
        config = entry.get("config")
        if config is None:
            return None
        place = f"{self.place}.config"
        if not (isinstance(config, dict) and all(isinstance(key, str) for key in config)):
            self.wrong(place, f"E-CAP-010: found {config!r}", "allowed: a table whose keys are texts")
            return None
        try:
            text = msgspec.json.encode(config)
        except (TypeError, ValueError, RecursionError) as error:
            self.wrong(place, f"E-CAP-010: it does not fit JSON: {error}")
            return None
        if len(text) > CONFIG_BYTES:
            self.wrong(place, f"E-CAP-010: it has {len(text)} bytes as JSON", f"allowed: {CONFIG_BYTES}")
            return None
        return text.decode()

    def others(self, capabilities: dict[str, Any], place: str) -> None:
        for key in capabilities:
            if key in _INERT:
                self.problems.append(
                    Problem(self.file, f"{place}.{key}", "W-SEC-006: it grants a hook nothing", "take it out", level="warning")
                )
            elif key not in _KNOWN:
                self.wrong(f"{place}.{key}", "unknown capability", f"known: {', '.join(_KNOWN)}")
