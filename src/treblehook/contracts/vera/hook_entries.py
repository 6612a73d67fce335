"""The `hooks` list of config.json, checked as far as loading checks it (vera.md 2.1, 2.2)."""

import difflib
import os
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.contracts.claude.events import ALIASES, EVENTS
from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.json_text import shown
from treblehook.contracts.vera.phases import PHASES

Protocol = Literal["vera", "claude"]
DEFAULT_TIMEOUT_MS: Final = 1000
LONGEST_TIMEOUT_MS: Final = 30_000
"""For a hook that a session starts; loading takes more (vera.md 2.3)."""
LARGEST_WHOLE: Final = 2**53 - 1
"""The largest integer that JSON carries safely."""


class HookEntry(Struct, frozen=True):
    """One entry of the list. `place` is its place in the file, `argv` is as written, `executable` is absolute."""

    place: str
    phase: str
    argv: tuple[str, ...]
    executable: str
    protocol: Protocol = "vera"
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    @property
    def name(self) -> str:
        """The executable's file name, by which users know the hook."""
        return os.path.basename(self.executable)


def hook_entries(entries: Any, hooks_dir: str, findings: Findings) -> tuple[HookEntry, ...]:
    """The entries of the list in order; what is wrong goes to `findings`, and an entry that is wrong is left out."""
    return tuple(
        found for place, entry in findings.objects("hooks", entries) if (found := _entry(place, entry, hooks_dir, findings)) is not None
    )


def _entry(place: str, entry: dict[str, Any], hooks_dir: str, findings: Findings) -> HookEntry | None:
    before = len(findings.problems)
    protocol = _protocol(place, entry, findings)
    _check_phase(place, entry, protocol, findings)
    executable = _executable(place, entry, hooks_dir, findings)
    timeout = _timeout(place, entry, findings)
    if len(findings.problems) > before or protocol is None:
        return None
    return HookEntry(place, entry["phase"], tuple(entry["argv"]), executable, protocol, timeout)


_PHASES_OF: Final[dict[Protocol | None, tuple[str, ...]]] = {
    "vera": tuple(PHASES),
    "claude": (*EVENTS, *ALIASES),
    # Where the protocol is unknown, the phase may be one of either.
    None: (*PHASES, *EVENTS),
}


def _protocol(place: str, entry: dict[str, Any], findings: Findings) -> Protocol | None:
    protocol = entry.get("protocol", "vera")
    if protocol == "vera":
        return "vera"
    if protocol == "claude":
        return "claude"
    findings.field(place, entry, "protocol", '"vera" or "claude"')
    return None


def _check_phase(place: str, entry: dict[str, Any], protocol: Protocol | None, findings: Findings) -> None:
    phase = entry.get("phase")
    allowed = _PHASES_OF[protocol]
    if not isinstance(phase, str):
        findings.field(place, entry, "phase", f"one of {', '.join(allowed)}")
    elif phase not in allowed:
        findings.field(place, entry, "phase", f"one of {', '.join(allowed)}", _phase_remedy(phase, protocol, allowed))


def _phase_remedy(phase: str, protocol: Protocol | None, allowed: tuple[str, ...]) -> str:
    if phase in EVENTS:
        return 'this is a Claude event: add "protocol": "claude"'
    if phase in PHASES:
        return f'the claude protocol has no {phase}: use "protocol": "vera"' if protocol == "claude" else ""
    if phase == "turn_finished":
        return "only a function of an extension can have this phase"
    folded = {name.lower().replace("_", ""): name for name in allowed}
    close = difflib.get_close_matches(phase.lower().replace("_", ""), folded, n=1, cutoff=0.8)
    return f"did you mean {folded[close[0]]}?" if close else ""


def _executable(place: str, entry: dict[str, Any], hooks_dir: str, findings: Findings) -> str:
    """The absolute path of the executable, "" where there is none."""
    argv = entry.get("argv")
    if not isinstance(argv, list) or not argv:
        findings.field(place, entry, "argv", "an array with the executable's file name and then its arguments")
        return ""
    for index, word in enumerate(argv):
        if not _word(word):
            findings.add(f"{place}.argv[{index}]", f"found {shown(word)}; it must be a text that is not empty and has no NUL")
    if not _word(argv[0]):
        return ""
    executable = resolved(argv[0], hooks_dir)
    if executable is None:
        remedy = f"put the executable into {hooks_dir} and name it from there"
        findings.add(f"{place}.argv[0]", f"found {shown(argv[0])}; it must be a path inside {hooks_dir}", remedy)
        return ""
    return executable


def _word(value: object) -> bool:
    """Whether the system takes it as a word of a command line."""
    return isinstance(value, str) and value != "" and "\0" not in value


def resolved(name: str, hooks_dir: str) -> str | None:
    """`name` joined to the absolute folder `hooks_dir` with its dots removed; None where that is not below the folder.

    Only the words of the path count: nothing is looked up, and a link inside the folder may lead anywhere (vera.md 2.2).
    """
    # POSIX keeps two leading slashes apart from one; nobody who writes a path does.
    path = os.path.normpath(os.path.join(hooks_dir, f"/{name.lstrip('/')}" if name.startswith("/") else name))
    folder = hooks_dir if hooks_dir.endswith("/") else f"{hooks_dir}/"
    return path if path.startswith(folder) and path != folder else None


def _timeout(place: str, entry: dict[str, Any], findings: Findings) -> int:
    value = entry.get("timeout_ms", DEFAULT_TIMEOUT_MS)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST_WHOLE and value == int(value):
        return int(value)
    allowed = f"a whole number of milliseconds from 1 to {LARGEST_WHOLE}, and at most {LONGEST_TIMEOUT_MS} when a session starts"
    findings.field(place, entry, "timeout_ms", allowed)
    return DEFAULT_TIMEOUT_MS
