"""The executable of a `register_command` call (vera.md 5.4)."""

from collections.abc import Mapping
from typing import Any, Final

from treblehook.contracts.claude.events import ALIASES, EVENTS
from treblehook.contracts.vera.hook_entries import DEFAULT_TIMEOUT_MS
from treblehook.contracts.vera.json_text import encoded
from treblehook.contracts.vera.limits import ARGV_BYTES, LONGEST_TIMEOUT_MS, MOST_ARGUMENTS
from treblehook.contracts.vera.phases import PHASES

_PHASES: Final = {"vera": tuple(PHASES), "claude": (*EVENTS, *ALIASES)}
_KEYS: Final = ("phase", "argv", "protocol", "timeoutMs")


def command(spec: Any) -> dict[str, Any]:
    """`spec` as the fields of a `Registered`. Raises TypeError that names the key, what was found and what is allowed.

    Other keys are refused: `timeout_ms`, as config.json has it, would otherwise be passed over.
    """
    if not isinstance(spec, Mapping):
        raise TypeError(f"register_command: found {spec!r:.60}; it must be a dict")
    for key in spec:
        if key not in _KEYS:
            raise TypeError(f"register_command: the key {key!r:.60} is not known; allowed: {', '.join(_KEYS)}")
    protocol = spec.get("protocol", "vera")
    if protocol not in ("vera", "claude"):
        raise _wrong("protocol", protocol, '"vera" or "claude"')
    phase = spec.get("phase")
    if phase not in _PHASES[protocol]:
        raise _wrong("phase", phase, f"one of {', '.join(_PHASES[protocol])}")
    timeout_ms = spec.get("timeoutMs", DEFAULT_TIMEOUT_MS)
    if not isinstance(timeout_ms, int) or isinstance(timeout_ms, bool) or not 1 <= timeout_ms <= LONGEST_TIMEOUT_MS:
        raise _wrong("timeoutMs", timeout_ms, f"a whole number of milliseconds from 1 to {LONGEST_TIMEOUT_MS}")
    return {"phase": phase, "argv": _argv(spec.get("argv")), "protocol": protocol, "timeout_ms": timeout_ms}


def _argv(argv: Any) -> tuple[str, ...]:
    if not isinstance(argv, list | tuple) or not argv or not all(isinstance(word, str) and word and "\0" not in word for word in argv):
        raise _wrong("argv", argv, "a list with the executable and then its arguments, none of them empty or with a NUL")
    if len(argv) > MOST_ARGUMENTS:
        raise TypeError(f"register_command: argv has {len(argv)} words; {MOST_ARGUMENTS} are allowed")
    size = len(encoded(list(argv)))
    if size > ARGV_BYTES:
        raise TypeError(f"register_command: argv has {size} bytes as JSON; {ARGV_BYTES} are allowed")
    return tuple(argv)


def _wrong(key: str, found: Any, allowed: str) -> TypeError:
    return TypeError(f"register_command: {key} is {found!r:.60}; it must be {allowed}")
