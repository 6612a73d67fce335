"""A session read back from its file, in the order in which it happened; the file is neither locked nor changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.agent.records import PUBLIC, Record
from treblehook.agent.transcript import SessionFile, SessionUnknown, TranscriptFailed, find_session, list_sessions, read_records
from treblehook.host.problems import Problem

LAST: Final = "last"
"""Names the session that was written to last, subagents left out."""

_FAILURES: Final = ("not_started", "failed", "timed_out")


class Timeline(Struct, frozen=True):
    """A session so far. `records` are those that are shown while a session runs, and `message` where the model says something
    along with its tool calls. `damage` tells of lines that are no records; `torn` is true while a line is being written, or
    where its writer was killed.
    """

    session: str
    records: tuple[Record, ...]
    damage: tuple[Problem, ...]
    torn: bool


class HookTotal(Struct, frozen=True):
    """What one hook did in a session: how often it was asked, answered and failed, and how long it took in all."""

    hook: str
    contract: str
    calls: int
    answers: int
    failures: int
    ms: float


def find(sessions: Path, given: str) -> SessionFile:
    """The session that `given` names in the folder `sessions`: its id, a beginning of one that is unambiguous, or `last`.

    Raises `SessionUnknown`, `SessionAmbiguous` and `TranscriptFailed`.
    """
    if given != LAST:
        return find_session(sessions, given)
    newest = sorted(list_sessions(sessions), key=lambda session: session.path.stat().st_mtime_ns, reverse=True)
    found = next((session for session in newest if not _is_subagent(session)), None)
    if found is None:
        raise SessionUnknown(given, [])
    return found


def read(session: SessionFile) -> Timeline:
    """What is in the file now. Raises `TranscriptFailed` where it cannot be read."""
    data = _bytes(session)
    contents = read_records(data, str(session.path))
    records = [shown for record in contents.records if (shown := _shown(record)) is not None]
    return Timeline(session.id, tuple(records), contents.damage, torn=bool(data) and not data.endswith(b"\n"))


def totals(timeline: Timeline) -> list[HookTotal]:
    """One for each hook, in the order in which they were first asked."""
    by_hook: dict[tuple[str, str], list[Record]] = {}
    for record in timeline.records:
        if record["type"] == "hook":
            by_hook.setdefault((record["hook"], record["contract"]), []).append(record)
    return [
        HookTotal(
            hook=hook,
            contract=contract,
            calls=len(calls),
            answers=sum(call["ended"] == "answered" for call in calls),
            failures=sum(call["ended"] in _FAILURES for call in calls),
            ms=round(sum(call["ms"] for call in calls), 3),
        )
        for (hook, contract), calls in by_hook.items()
    ]
