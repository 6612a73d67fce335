"""What can go wrong with a session's file."""

from collections.abc import Sequence
from pathlib import Path


class TranscriptFailed(Exception):
    """The file cannot be read or written; `reason` is the system's. What was acknowledged before is still in it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class SessionBusy(TranscriptFailed):
    """Another process has the session open; `pid` is that process where the system tells."""

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(path, "the session is open in another process" + ("" if pid is None else f" ({pid})"))
        self.session = path.stem
        self.pid = pid


class SessionNotFound(Exception):
    """`given` is the beginning of no session's id, or of several; `candidates` are ids that may be meant, the newest first."""

    def __init__(self, given: str, candidates: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.given = given
        self.candidates = tuple(candidates)


class SessionUnknown(SessionNotFound):
    """No session's id begins with `given`; `candidates` are the newest ids."""

    def __init__(self, given: str, candidates: Sequence[str]) -> None:
        newest = f"the newest are {', '.join(candidates)}" if candidates else "there are none"
        super().__init__(given, candidates, f"no session's id begins with {given!r}; {newest}")


class SessionAmbiguous(SessionNotFound):
    """Several sessions' ids begin with `given`; `candidates` are all of them."""

    def __init__(self, given: str, candidates: Sequence[str]) -> None:
        super().__init__(given, candidates, f"several sessions' ids begin with {given!r}: {', '.join(candidates)}")
