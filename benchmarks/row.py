"""One row of the table: what is measured, beside what, and the limit on the ratio of the two."""

from collections.abc import Awaitable, Callable

from msgspec import Struct


class Limit(Struct, frozen=True):
    """`at_most`: ours may take so many times as long as the other; `at_least`: ours must be so many times as fast."""

    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:g}x"
        return "none" if self.at_least is None else f"at least {self.at_least:g}x as fast"


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
        if self.limit.at_most is not None:
            return self.ratio <= self.limit.at_most
        return self.limit.at_least is None or self.ratio * self.limit.at_least <= 1


class Missing(Exception):
    """A row cannot be measured here; the message says what it needs."""


Measure = Callable[[], Awaitable[list[Line]]]
"""What a module in `rows/` calls `measure`. Raises `Missing`."""
