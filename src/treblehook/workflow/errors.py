"""What can go wrong with a run: what its result tells, and what is raised because there is no result."""

from pathlib import Path
from typing import Literal

Kind = Literal["hook", "serialize", "step"]


class WorkflowError(Exception):
    """Why a run failed.

    `kind` is `hook` where a step hook blocked or failed, `serialize` where a value is not JSON, and `step` where the program's own
    code raised; that exception is the `__cause__`.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class JournalFailed(Exception):
    """A file of a run cannot be read or written; what was recorded before stands."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


class RunBusy(JournalFailed):
    """Another process, or another call in this one, is at work on the run."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, "the run is under way elsewhere")


class RunNotFound(JournalFailed):
    """There is no run of that id and that workflow; nothing of it ran, or it is kept elsewhere."""
