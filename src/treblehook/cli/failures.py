"""What can go wrong in a way that the user can mend, each told in one line without a traceback, and the exit statuses."""

from typing import Final

from treblehook.agent.errors import SessionRefused
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.steps import Status
from treblehook.agent.transcript import SessionNotFound, TranscriptFailed
from treblehook.host.problems import ConfigInvalid

FAILED: Final = 1
USAGE: Final = 2
REFUSED: Final = 4
INTERRUPTED: Final = 130

EXIT: Final[dict[Status, int]] = {"finished": 0, "failed": FAILED, "blocked": 3, "refused": REFUSED, "interrupted": INTERRUPTED}
"""The exit status for each way in which a session ends (design, section 6)."""

EXPECTED: Final = (ConfigInvalid, ModelSpecInvalid, SessionNotFound, SessionRefused, TranscriptFailed)
"""The errors that are told in a line."""


def lines_of(error: Exception) -> list[str]:
    """An expected error as lines: one for each problem of a configuration, one for anything else."""
    told = [f"{problem.level}: {problem}" for problem in error.problems] if isinstance(error, ConfigInvalid) else [f"error: {error}"]
    return [" ".join(line.split("\n")) for line in told]


def exit_of(error: Exception) -> int:
    """The exit status for an expected error."""
    if isinstance(error, SessionRefused):
        return REFUSED
    return FAILED if isinstance(error, TranscriptFailed) else USAGE
