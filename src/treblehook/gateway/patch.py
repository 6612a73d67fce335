"""The patch language of `apply_patch` (Codex and agents that took it over): which files a patch touches, as calls of our own tools.

A guard of `write` or `edit` has to see every file that the agent would change. So what the agents read leniently is refused here where two
readings are possible, and so is everything that is not understood.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.gateway.codec import PayloadInvalid
from treblehook.lifecycle import ToolCall

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_END_OF_FILE: Final = "*** End of File"
_ENVIRONMENT: Final = "*** Environment ID: "
_MOVE: Final = "*** Move to: "
_KINDS: Final[dict[str, Literal["add", "delete", "update"]]] = {
    "*** Add File: ": "add",
    "*** Delete File: ": "delete",
    "*** Update File: ": "update",
}
_MARKERS: Final = tuple(marker.rstrip() for marker in (*_KINDS, _MOVE, _ENVIRONMENT, _BEGIN, _END))
_SHOWN: Final = 60


class FileChange(Struct):
    """What a patch does to the file at `path`. `old` and `new` are the lines that it shows of before and after, all places of a file in
    one; `moved_to` is the new path of an updated file, "" where it stays."""

    kind: Literal["add", "delete", "update"]
    path: str
    moved_to: str = ""
    old: list[str] = []
    new: list[str] = []
    line: int = 0


def calls_of(patch: str, id: str, place: str) -> tuple[ToolCall, ...]:
    """A call of ours for every path that `patch` touches, in its order; the first has the id `id`. Raises `PayloadInvalid`.

    An added file is written, and so is a deleted one: with nothing, and `deleted`. An updated one is edited; where it moves, its new
    path is written too, with what the patch shows of it.
    """
    inputs = [given for change in changes_in(patch, place) for given in _inputs(change)]
    return tuple(ToolCall(f"{id}-{n}" if n > 1 else id, name, given) for n, (name, given) in enumerate(inputs, 1))


def _inputs(change: FileChange) -> Iterator[tuple[str, dict[str, Any]]]:
    if change.kind == "add":
        yield "write", {"path": change.path, "content": "".join(f"{line}\n" for line in change.new)}
    elif change.kind == "delete":
        yield "write", {"path": change.path, "content": "", "deleted": True}
    else:
        yield "edit", {"path": change.path, "old": "\n".join(change.old), "new": "\n".join(change.new)}
        if change.moved_to:
            yield "write", {"path": change.moved_to, "content": "\n".join(change.new)}


def changes_in(patch: str, place: str) -> list[FileChange]:
    """The file changes of `patch`, at least one. Raises `PayloadInvalid`, whose place is `place` and the line."""
    lines = [line.removesuffix("\r") for line in patch.strip().split("\n")]
    if lines[0].strip() != _BEGIN:
        raise _unreadable(place, 1, lines[0], _BEGIN)
    if lines[-1].strip() != _END:
        raise _unreadable(place, len(lines), lines[-1], _END)
    changes: list[FileChange] = []
    for number, line in enumerate(lines[1:-1], 2):
        if number == 2 and line.startswith(_ENVIRONMENT):
            continue
        _take(changes, number, line, place)
    if not changes:
        raise _unreadable(place, len(lines), _END, "a file to add, delete or update before it")
    _check_done(changes, len(lines), _END, place)
    return changes


def _take(changes: list[FileChange], number: int, line: str, place: str) -> None:
    """One line between begin and end."""
    for marker, kind in _KINDS.items():
        if line.startswith(marker):
            _check_done(changes, number, line, place)
            changes.append(FileChange(kind, _path(line, marker, number, place), line=number))
            return
    current = changes[-1] if changes else None
    if current is not None and line.startswith(_MOVE) and current.kind == "update" and number == current.line + 1:
        current.moved_to = _path(line, _MOVE, number, place)
    elif line.strip().startswith(_MARKERS):
        # Some versions read an indented marker as a marker, others as text of the file.
        raise _unreadable(place, number, line, "a marker at the beginning of its line, where it belongs")
    elif current is None or not _takes_text(current, line):
        raise _unreadable(place, number, line, _allowed(current))


def _takes_text(change: FileChange, line: str) -> bool:
    """Add a line of text to `change`; false where it does not belong there."""
    if change.kind == "add" and line.startswith("+"):
        change.new.append(line[1:])
        return True
    if change.kind != "update":
        return False
    if line == "@@" or line.startswith("@@ ") or line == _END_OF_FILE:
        return True
    sign, text = line[:1], line[1:]
    if sign in ("", " ", "-"):
        change.old.append(text)
    if sign in ("", " ", "+"):
        change.new.append(text)
    return sign in ("", " ", "-", "+")


def _check_done(changes: list[FileChange], number: int, line: str, place: str) -> None:
    """Raises `PayloadInvalid` where the last change is an update of nothing."""
    if changes and changes[-1].kind == "update" and not (changes[-1].old or changes[-1].new or changes[-1].moved_to):
        raise _unreadable(place, number, line, f"lines that change {changes[-1].path}")


def _path(line: str, marker: str, number: int, place: str) -> str:
    path = line.removeprefix(marker)
    if not path.strip() or path != path.strip() or any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise _unreadable(place, number, line, f"{marker}PATH, without white space around it and without control characters")
    return path


def _allowed(current: FileChange | None) -> str:
    headers = ", ".join(f"{marker}PATH" for marker in _KINDS)
    if current is None or current.kind == "delete":
        return headers
    return f"{headers}, or a line that begins with " + ("+" if current.kind == "add" else "+, -, a space or @@")


def _unreadable(place: str, number: int, line: str, allowed: str) -> PayloadInvalid:
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
    return PayloadInvalid(f"{place}, line {number}", repr(shown), allowed)
