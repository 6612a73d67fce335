"""What one run of an executable may use, and what it left."""

from typing import Literal

import msgspec

Stream = Literal["stdout", "stderr"]


class Limits(msgspec.Struct, frozen=True):
    """The bounds of one run, in bytes and seconds; the byte limits are the ones of vera.md 6.

    `overflow` says what one byte over `stdout_bytes` means: `fail` ends the process and the run, `cut` keeps the first
    `stdout_bytes`, drops the rest and lets the process go on. stderr is always cut.
    """

    stdin_bytes: int = 262_144
    stdout_bytes: int = 65_536
    stderr_bytes: int = 65_536
    overflow: Literal["fail", "cut"] = "fail"
    grace_seconds: float = 0.5
    """From SIGTERM to SIGKILL, when a process has to be ended."""
    linger_seconds: float | None = None
    """From the exit of the process to the end of the wait for an output that a descendant still holds open; None waits on."""


class Finished(msgspec.Struct, frozen=True):
    """A process that ended by itself: it exited and both its outputs were closed."""

    status: int
    """The exit status, or the negative number of the signal that ended the process."""
    stdout: bytes
    stderr: bytes
    stdout_cut: bool
    stderr_cut: bool
    seconds: float
    """From the spawn to the end."""
    held: bool = False
    """A descendant still held an output open when the wait for it ended; what it writes later is lost."""
