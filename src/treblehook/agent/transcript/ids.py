"""Names sessions, lists them and finds one by the beginning of its id."""

import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from treblehook.agent.transcript.errors import SessionAmbiguous, SessionUnknown, TranscriptFailed

_FILE = re.compile(r"(ses_[0-9a-f]{32})\.jsonl")
_SHOWN = 5


class SessionFile(Struct, frozen=True):
    """A session on disk; `started` is its time in milliseconds since 1970, read from the id."""

    id: str
    path: Path
    started: int


def new_session_id(clock: Callable[[], int] = time.time_ns, randomness: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """The id of a session, in the order of time."""
    return new_id("ses", clock, randomness)


def new_id(kind: str, clock: Callable[[], int] = time.time_ns, randomness: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """`KIND_` and 32 hexadecimal digits, in the order of time: a UUID of version 7, whose `rand_a` is the fraction of the
    millisecond (RFC 9562, 5.7 and 6.2 method 3). `clock` gives nanoseconds since 1970, `randomness(n)` n bytes.
    """
    milliseconds, nanoseconds = divmod(clock(), 1_000_000)
    fraction = nanoseconds * 4096 // 1_000_000
    tail = int.from_bytes(randomness(8)) & (1 << 62) - 1
    return f"{kind}_{milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | tail:032x}"


def list_sessions(folder: Path) -> list[SessionFile]:
    """The sessions in `<home>/sessions`, the newest first; other files are passed over. Raises `TranscriptFailed`."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TranscriptFailed(folder, error.strerror or str(error)) from error
    ids = sorted((found[1] for name in names if (found := _FILE.fullmatch(name))), reverse=True)
    return [SessionFile(id, folder / f"{id}.jsonl", int(id[4:16], 16)) for id in ids]


def find_session(folder: Path, given: str) -> str:
    """The id of the session whose id begins with `given`, with or without its `ses_`.

    Raises `SessionNotFound` (`SessionUnknown` or `SessionAmbiguous`) and `TranscriptFailed`.
    """
    sessions = list_sessions(folder)
    beginning = f"ses_{given.strip().lower().removeprefix('ses_')}"
    found = [session for session in sessions if session.id.startswith(beginning)]
    if not found:
        raise SessionUnknown(given, [session.id for session in sessions[:_SHOWN]])
    if len(found) > 1:
        raise SessionAmbiguous(given, [session.id for session in found])
    return found[0].id
