"""A session read back from its file, in the order in which it happened; the file is neither locked nor changed."""

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


def find(sessions: Path, given: str) -> Path:
    """The file of the session that `given` names in the folder `sessions`: its id, a beginning of it, or `last`.

    Raises `SessionNotFound` and `TranscriptFailed`.
    """
    if given != LAST:
        return sessions / f"{find_session(sessions, given)}.jsonl"
    newest = sorted(list_sessions(sessions), key=lambda session: session.path.stat().st_mtime_ns, reverse=True)
    found = next((session for session in newest if not _is_subagent(session)), None)
    if found is None:
        raise SessionUnknown(given, [])
    return found.path


def read(file: Path) -> Timeline:
    """What is in the file now. Raises `TranscriptFailed` where it cannot be read."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise TranscriptFailed(file, error.strerror or str(error)) from error
    contents = read_records(data, str(file))
    unread = {problem.place for problem in contents.damage}
    places = (place for number in range(1, data.count(b"\n") + 1) if (place := f"line {number}") not in unread)
    records: list[Record] = []
    damage = list(contents.damage)
    for place, record in zip(places, contents.records, strict=True):
        missing = _missing(record)
        if missing:
            damage.append(Problem(str(file), place, f"no record, left out: it has no {', '.join(missing)}", level="warning"))
        elif (shown := _shown(record)) is not None:
            records.append(shown)
    return Timeline(file.stem, tuple(records), tuple(damage), torn=bool(data) and not data.endswith(b"\n"))


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


def _missing(record: Record) -> list[str]:
    """The keys that a record of its type must have and this one has not."""
    needed = ("type", "at", "session", *PUBLIC.get(record.get("type", ""), ()), *(("message",) if record.get("type") == "message" else ()))
    return [key for key in needed if key not in record and key not in record.get("left_out", ())]


def _shown(record: Record) -> Record | None:
    """The record as it was shown while the session ran; None for what nobody saw. The file keeps replies as messages."""
    kind = record["type"]
    if kind == "message":
        message: dict[str, Any] = record["message"]
        if message.get("role") != "assistant" or not (message.get("text") or not message.get("calls")):
            return None
        head = {key: record[key] for key in ("at", "session")}
        return {"type": "message" if message.get("calls") else "reply", **head, "text": message.get("text", "")}
    keys = PUBLIC.get(kind)
    if keys is None:
        return None
    return {key: record[key] for key in ("type", "at", "session", *keys, "left_out") if key in record}


def _is_subagent(session: SessionFile) -> bool:
    with session.path.open("rb") as file:
        opening = read_records(file.readline(), str(session.path)).records
    return any(record.get("parent") for record in opening)
