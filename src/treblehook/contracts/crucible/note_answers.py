"""What the returns of the two precognition events mean: which notes, and how they are told (crucible.md 3.6, 3.7)."""

from collections.abc import Iterator
from typing import Any, Final

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.plain import ReturnInvalid, what
from treblehook.contracts.crucible.returned import Returned, Scalar, Transform
from treblehook.lifecycle import ChooseNotes, Decision, NoteChoice, NotesRetrieved, RenderNotes
from treblehook.lifecycle.event import Event

_DIGITS: Final = 19
"""A key with as many digits is no position: no table is that long."""


def precognition_select(returned: Returned, event: NotesRetrieved, author: Author) -> Decision | None:
    """The notes of the entries, in the order of the entries; an empty table chooses none, and one that is of no use decides nothing."""
    match returned:
        case Scalar(value):
            author.warn(f"returned {what(value)}; a list of notes is needed, so it chooses nothing")
        case Transform(echoed=True):
            author.warn("returned its event; a list of notes is needed, so it chooses nothing")
        case Transform(empty=True):
            return ChooseNotes(())
        case Transform(fields):
            entries = sorted(_positions(fields), key=lambda position: position[0])
            return _chosen([entry for _, entry in entries], len(event.notes), author)
    return None


def _positions(fields: Any) -> Iterator[tuple[int, Any]]:
    """The entries by their position; a key that spells a number is one (`["10"]` comes after `["2"]`)."""
    for key, value in fields.items():
        if isinstance(key, int):
            yield key, value
        elif isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < _DIGITS:
            yield int(key), value


def _chosen(entries: list[Any], count: int, author: Author) -> ChooseNotes | None:
    if not entries:
        author.warn("returned a table without a list of notes, so it chooses nothing")
        return None
    choices: dict[int, NoteChoice] = {}
    for place, entry in enumerate(entries, 1):
        index = _index(entry)
        if index is None or not 1 <= index <= count:
            author.warn(f"entry {place} is left out: {_wrong(entry, count)}")
        elif index in choices:
            author.warn(f"entry {place} is left out: note {index} has been chosen already")
        else:
            choices[index] = NoteChoice(index, _snippet(entry.get("snippet"), place))
    if not choices:
        author.warn("none of the entries names a note, so it chooses nothing")
        return None
    return ChooseNotes(tuple(choices.values()))


def _snippet(value: object, place: int) -> str | None:
    """A text that replaces the note's; one that a byte-wise cut left in the middle of a character cannot."""
    if isinstance(value, bytes):
        raise ReturnInvalid(f"returned a string that is not UTF-8 at `[{place}].snippet`")
    return value if isinstance(value, str) else None


def _index(entry: Any) -> int | None:
    """The note that an entry names. Arithmetic makes floats of whole numbers, which count."""
    index = entry.get("index") if isinstance(entry, dict) else None
    if isinstance(index, float) and index.is_integer():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _wrong(entry: Any, count: int) -> str:
    if not isinstance(entry, dict):
        return f"it is {what(entry)}, not a table with `index`"
    allowed = f"a whole number from 1 to {count} is needed" if count else "there are no notes to choose from"
    return f"`index` is {what(entry.get('index'))}; {allowed}"


def precognition_format(returned: Returned, event: Event, author: Author) -> Decision | None:
    """A string is the whole block. Raises `ReturnInvalid` for one that is not UTF-8."""
    match returned:
        case Scalar(str(text)):
            return RenderNotes(text)
        case Scalar(bytes()):
            raise ReturnInvalid("returned a string that is not UTF-8")
    return None
