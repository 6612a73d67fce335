"""When a path that changes has come to rest."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

QUIET_SECONDS: Final = 0.03
"""A path is at rest when nothing has happened to it for so long: editors save in several steps."""

LONGEST_SECONDS: Final = 0.5
"""A path that changes all the time is looked at after so long."""


class _Restless(Struct):
    first: float
    last: float


class Settling:
    """Holds back the paths that were touched until they are at rest; each comes out once for any number of touches.

    Times are those of any clock that does not go back.
    """

    def __init__(self, quiet: float = QUIET_SECONDS, longest: float = LONGEST_SECONDS) -> None:
        self._quiet = quiet
        self._longest = longest
        self._paths: dict[str, _Restless] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def touch(self, paths: Iterable[str], now: float) -> None:
        """Something has happened to these paths."""
        for path in paths:
            restless = self._paths.setdefault(path, _Restless(now, now))
            restless.last = max(restless.last, now)

    def due(self, now: float) -> list[str]:
        """Take out the paths that are at rest, in the order of their first touch."""
        settled = [path for path, restless in self._paths.items() if self._at(restless) <= now]
        for path in settled:
            del self._paths[path]
        return settled

    def next_at(self) -> float:
        """When the next path will be at rest, if nothing more happens; infinity without any."""
        return min(map(self._at, self._paths.values()), default=float("inf"))

    def _at(self, restless: _Restless) -> float:
        return min(restless.last + self._quiet, restless.first + self._longest)
