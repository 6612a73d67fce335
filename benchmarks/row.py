"""One row of the table: what is measured, beside what, and the limit on the ratio of the two."""

from collections.abc import Awaitable, Callable

from msgspec import Struct


class Limit(Struct, frozen=True):
    """`at_most`: ours may cost so many times what the other does; `at_least`: ours must be so many times as fast; `more`: ours
    may cost so much more, in the unit of the line."""

    at_most: float | None = None
    at_least: float | None = None
    more: float | None = None


class Line(Struct, frozen=True):
    """What a row came to: the seconds (or bytes, see `unit`) that one operation takes, ours and the other's."""

    what: str
    beside: str
    ours: float
    other: float
    limit: Limit = Limit()
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times the other's cost ours is."""
        return self.ours / self.other

    @property
    def kept(self) -> bool:
        """Whether the limit is kept."""
        limit = self.limit
        return (
            (limit.at_most is None or self.ratio <= limit.at_most)
            and (limit.at_least is None or self.ratio * limit.at_least <= 1)
            and (limit.more is None or self.ours - self.other <= limit.more)
        )


class Missing(Exception):
    """A row cannot be measured here; the message says what it needs."""


Measure = Callable[[], Awaitable[list[Line]]]
"""What a module in `rows/` calls `measure`. Raises `Missing`."""
