"""The `extensions` and `disabled_included_extensions` of config.json, checked as far as loading checks them (vera.md 5.2)."""

import os
from typing import Any

from msgspec import Struct

from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.json_text import TRIMMED, shown


class ExtensionEntry(Struct, frozen=True):
    """One entry of the list: `path` is the extension's absolute folder, `config` any JSON for it."""

    place: str
    path: str
    enabled: bool
    config: Any


def extension_entries(entries: Any, findings: Findings) -> tuple[ExtensionEntry, ...]:
    """The entries of the list in order; what is wrong goes to `findings`."""
    return tuple(_entry(place, entry, findings) for place, entry in findings.objects("extensions", entries))


def _entry(place: str, entry: dict[str, Any], findings: Findings) -> ExtensionEntry:
    given = entry.get("path")
    path = given.strip(TRIMMED) if isinstance(given, str) else ""
    if not os.path.isabs(path):
        findings.field(place, entry, "path", "an absolute path of a folder")
    enabled = entry.get("enabled", True)
    if not isinstance(enabled, bool):
        findings.field(place, entry, "enabled", "true or false")
    return ExtensionEntry(place, path, enabled is True, entry.get("config", {}))


def disabled_included(ids: Any, findings: Findings) -> tuple[str, ...]:
    """The ids of included extensions that are switched off; what is wrong goes to `findings`."""
    if not isinstance(ids, list):
        findings.add("disabled_included_extensions", f"found {shown(ids)}; it must be an array", "leave the key out to disable none")
        return ()
    for index, found in enumerate(ids):
        if not isinstance(found, str) or not found:
            findings.add(f"disabled_included_extensions[{index}]", f"found {shown(found)}; it must be the id of an extension")
    return tuple(found for found in ids if isinstance(found, str))
