"""The limits that are checked when a session starts its hooks, not when the configuration loads (vera.md 2.3)."""

from typing import Final

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.hook_entries import LONGEST_TIMEOUT_MS, HookEntry
from treblehook.contracts.vera.json_text import encoded
from treblehook.host.problems import Problem

__all__ = ["ARGV_BYTES", "LONGEST_TIMEOUT_MS", "MOST_ARGUMENTS", "over_limits"]

MOST_ARGUMENTS: Final = 16
ARGV_BYTES: Final = 8192


def over_limits(config: VeraConfig) -> list[Problem]:
    """Every limit that an entry is over, whatever its phase: a hook that was silently left out would fail open."""
    findings = Findings(config.file)
    for entry in config.hooks:
        _check(entry, findings)
    return findings.problems


def _check(entry: HookEntry, findings: Findings) -> None:
    count = len(entry.argv)
    if count > MOST_ARGUMENTS:
        findings.add(f"{entry.place}.argv", f"has {count} words; {MOST_ARGUMENTS} are allowed, the executable counted in")
    size = len(encoded([entry.executable, *entry.argv[1:]]))
    if size > ARGV_BYTES:
        remedy = f"the executable counts with its whole path, {entry.executable}"
        findings.add(f"{entry.place}.argv", f"has {size} bytes as JSON; {ARGV_BYTES} are allowed", remedy)
    if entry.timeout_ms > LONGEST_TIMEOUT_MS:
        findings.add(f"{entry.place}.timeout_ms", f"found {entry.timeout_ms}; at most {LONGEST_TIMEOUT_MS} milliseconds are allowed")
