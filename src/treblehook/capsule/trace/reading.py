"""A trace read back from its file, whole or torn, while it is written or long after."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from treblehook.agent.transcript import TranscriptFailed, read_records
from treblehook.host.problems import Problem

Line = dict[str, Any]


class ReadTrace(Struct, frozen=True):
    """The lines of a trace with the depth of each below `session_start`. `damage` tells of lines that are none; `torn` is true while a
    line is being written, or where its writer was killed."""

    path: Path
    lines: tuple[tuple[int, Line], ...]
    damage: tuple[Problem, ...]
    torn: bool


def find_trace(folder: Path) -> Path:
    """The trace in a session workdir, or the newest one of a workdir or of a capsule's folder. Raises `TranscriptFailed`."""
    own = folder / "trace.jsonl"
    if folder.is_file():
        return folder
    if own.is_file():
        return own
    found = [*folder.glob(".murmur/ses_*/trace.jsonl"), *folder.glob("ses_*/trace.jsonl"), *folder.glob("workdir/ses_*/trace.jsonl")]
    if not found:
        raise TranscriptFailed(own, "there is no trace; name a workdir, or a session's folder in it")
    return max(found, key=lambda path: path.parent.name)


def read_trace(path: Path) -> ReadTrace:
    """What is in it now. Raises `TranscriptFailed` where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TranscriptFailed(path, error.strerror or str(error)) from error
    contents = read_records(data, str(path))
    depths: dict[Any, int] = {None: -1}
    lines = []
    for line in contents.records:
        depth = depths.get(line.get("parent_id"), 0) + 1
        depths[line.get("event_id")] = depth
        lines.append((depth, line))
    return ReadTrace(path, tuple(lines), contents.damage, torn=bool(data) and not data.endswith(b"\n"))
