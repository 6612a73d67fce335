"""The bounds of the runtime."""

from typing import Final

from msgspec import Struct

LINE_BYTES: Final = 2 * 1024 * 1024
"""The longest line that a worker may send. What a function returns is measured in the worker, so only a worker that writes to its
pipe behind our back sends more."""

BACKLOG_BYTES: Final = 8 * 1024 * 1024
"""How much may wait for a worker that does not read."""

REQUESTS: Final = 64
"""How many requests a module may have under way at us."""

HEAP_MB: Final = 512
"""JavaScript heap of one worker; a worker that needs more is ended by Node, alone."""

LOG_BYTES: Final = 4 * 1024 * 1024
"""Console output of one worker that is kept."""


class Patience(Struct, frozen=True):
    """How long things may take, in seconds.

    `blocked` is how long an event loop may stand still once somebody has stopped waiting for an answer. A process that died is
    started again after the next of `restarts`; one more death within `forgotten` is the last.
    """

    start: float = 20.0
    blocked: float = 5.0
    close: float = 1.0
    restarts: tuple[float, ...] = (0.1, 1.0, 5.0)
    forgotten: float = 600.0


PATIENCE: Final = Patience()
