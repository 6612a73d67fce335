"""Executables are run here, inside limits; what is written to them and what their output means is decided elsewhere.

Read `runtime.py` first: one run from its start to its answer.
"""

from treblehook.runtimes.process.errors import (
    NotStarted,
    ProcessError,
    StatusLost,
    Stopped,
    TimedOut,
    TooMuchInput,
    TooMuchOutput,
)
from treblehook.runtimes.process.runtime import ProcessRuntime
from treblehook.runtimes.process.values import Finished, Limits, Stream

__all__ = [
    "Finished",
    "Limits",
    "NotStarted",
    "ProcessError",
    "ProcessRuntime",
    "StatusLost",
    "Stopped",
    "Stream",
    "TimedOut",
    "TooMuchInput",
    "TooMuchOutput",
]
