"""Hooks that may take longer together than the deadline that they share (vera.md 3)."""

from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.phases import PHASES
from treblehook.home.checks.entries import Entry
from treblehook.host.problems import Problem

_SESSIONS: Final = ("user", "spawned")


def over_deadlines(config: VeraConfig, entries: Sequence[Entry]) -> Iterator[Problem]:
    """A warning for each phase whose hooks' time limits add up to more than the phase's deadline, at the entry that goes over."""
    told = set()
    for sessions in _SESSIONS:
        for phase in PHASES.values():
            sharing = [e for e in entries if e.phase == phase and e.obeyed and e.sessions in ("every", sessions)]
            problem = None if phase.seconds is None else _problem(config.file, phase.name, phase.seconds, sharing)
            if problem is not None and problem.place not in told:
                told.add(problem.place)
                yield problem


def _problem(file: str, phase: str, seconds: float, sharing: Sequence[Entry]) -> Problem | None:
    total = sum(entry.hook.timeout_ms for entry in sharing)
    if total <= seconds * 1000:
        return None
    spent = 0
    for over in sharing:
        spent += over.hook.timeout_ms
        if spent > seconds * 1000:
            break
    who = "this hook" if len(sharing) == 1 else f"the {len(sharing)} hooks"
    message = f"{who} of {phase} may take {total} ms, and {seconds:g} s are all that they get together: {over.hook.name} may be cut short"
    return Problem(file, f"{over.hook.place}.timeout_ms", message, "shorten the time limits until they fit", "warning")
