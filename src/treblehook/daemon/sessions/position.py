"""Where in a session's records somebody is: the `id` of a server-sent event."""

import re
from typing import Final, NamedTuple

_ID: Final = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?")


class Position(NamedTuple):
    """`offset` is how long the session file was, in bytes, once the record was in it; `more` counts those that are shown and not
    in this file, since the last one that is."""

    offset: int
    more: int = 0

    def __str__(self) -> str:
        return f"{self.offset}.{self.more}" if self.more else str(self.offset)


START: Final = Position(0)


def position_of(text: str) -> Position | None:
    """The position that an `id` names; None where it is none."""
    found = _ID.fullmatch(text)
    return Position(int(found[1]), int(found[2] or 0)) if found else None
