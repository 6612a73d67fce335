"""The included extension `vera.command-hooks`: the executables in the list `hooks` of its configuration (vera.md 5.5)."""

import os
from typing import Any

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.extensions.activation import Registered
from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.hook_entries import HookEntry, hook_entries
from treblehook.contracts.vera.json_text import shown
from treblehook.contracts.vera.limits import over_limits
from treblehook.host.problems import ConfigInvalid, Problem


def command_hooks(config: Any, file: str, place: str) -> tuple[Registered, ...]:
    """The executables that `config` lists, none where it has no list. `file` and `place` say where the configuration stands.

    Raises ConfigInvalid with everything that is wrong, limits included: then the extension is not active.
    """
    findings = Findings(file)
    entries: tuple[HookEntry, ...] = ()
    if isinstance(config, dict):
        _check_absolute(config.get("hooks"), findings)
        # Absolute paths are inside this folder, and stay as they are.
        entries = hook_entries(config.get("hooks", []), "/", findings)
    else:
        findings.add("", f"found {shown(config)}; it must be an object")
    problems = findings.problems or over_limits(VeraConfig(file, "/", entries))
    if problems:
        raise ConfigInvalid([_placed(problem, place) for problem in problems])
    return tuple(Registered(number, entry.phase, entry.argv, entry.protocol, entry.timeout_ms) for number, entry in enumerate(entries))


def _check_absolute(entries: Any, findings: Findings) -> None:
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        argv = entry.get("argv") if isinstance(entry, dict) else None
        if isinstance(argv, list) and argv and isinstance(argv[0], str) and argv[0] and not os.path.isabs(argv[0]):
            findings.add(f"hooks[{index}].argv[0]", f"found {shown(argv[0])}; it must be an absolute path")


def _placed(problem: Problem, place: str) -> Problem:
    where = ".".join(part for part in (place, "config", problem.place) if part)
    return Problem(problem.file, where, problem.message, problem.remedy)
