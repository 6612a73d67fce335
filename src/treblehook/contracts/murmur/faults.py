"""What went wrong with a hook: a line in its log, and a fault where the contract wants one traced (murmur.md 4.3 to 4.5)."""

import os
from pathlib import Path
from typing import Final, Protocol

from treblehook.contracts.murmur.bindings import Binding

ERROR: Final = "error"
OVERFLOW: Final = "queue-overflow"
TIMEOUT: Final = "timeout"
DRAIN: Final = "drain"


class FaultSink(Protocol):
    """Where both go. Faults are kept until it is their turn in the trace."""

    def log(self, hook: str, message: str) -> None:
        """A line for the log of `hook`."""

    def fault(self, hook: str, event: str, arm: str) -> None:
        """`hook` did at `event` what is not honoured: an arm by its name, or one of the words above. `event` may be `drain`."""


class HookLogs:
    """The files `hook-<name>.log` of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, hook: str, message: str) -> None:
        """Append exactly `message` and a newline. A log that cannot be written holds nothing up."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # What a hook says of a call may be as private as the call.
            with open(self._folder / f"hook-{hook}.log", "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(f"{message}\n".encode("utf-8", "replace"))
        except OSError:
            # The contract ignores it (murmur.md 4.4): a full disk must not end a session.
            return


def not_honoured(hook: str, binding: Binding, arm: str) -> str:
    """The line of a fault."""
    return f"hook '{hook}' returned {arm} at {binding.value}, which does not honour it: the value was dropped"
