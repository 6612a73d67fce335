"""What can go wrong in a way that the user can mend, each told in one line without a traceback, and the exit statuses."""

from typing import Final

from treblehook.agent.errors import SessionRefused
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.steps import Status
from treblehook.agent.transcript import SessionAmbiguous, SessionNotFound, TranscriptFailed
from treblehook.host.problems import ConfigInvalid

FAILED: Final = 1
USAGE: Final = 2
REFUSED: Final = 4
INTERRUPTED: Final = 130

EXIT: Final[dict[Status, int]] = {"finished": 0, "failed": FAILED, "blocked": 3, "refused": REFUSED, "interrupted": INTERRUPTED}
"""The exit status for each way in which a session ends (design, section 6)."""

_NAMED: Final = 5
"""How many of the sessions that may be meant are named."""

EXPECTED: Final = (ConfigInvalid, ModelSpecInvalid, SessionNotFound, SessionRefused, TranscriptFailed)
"""The errors that are told in a line."""


def lines_of(error: Exception) -> list[str]:
    """An expected error as lines: one for each problem of a configuration, one for anything else."""
    if isinstance(error, ConfigInvalid):
        told = [f"{problem.level}: {problem}" for problem in error.problems]
    else:
        told = [f"error: {_message(error)}"]
    return [" ".join(line.split("\n")) for line in told]


def exit_of(error: Exception) -> int:
    """The exit status for an expected error."""
    if isinstance(error, SessionRefused):
        return REFUSED
    return FAILED if isinstance(error, TranscriptFailed) else USAGE


def _message(error: Exception) -> str:
    if not isinstance(error, SessionAmbiguous):
        return str(error)
    named, more = error.candidates[:_NAMED], len(error.candidates) - _NAMED
    return f"several sessions' ids begin with {error.given!r}: {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
