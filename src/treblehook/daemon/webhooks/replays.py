"""Which deliveries have been seen: none is taken twice within five minutes (crucible.md 8.5)."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from treblehook.daemon.webhooks.signatures import FRESH_SECONDS, Claim

MOST: Final = 4096


class Seen(Struct, frozen=True):
    """A verified tag, and until when (seconds since 1970) it is remembered."""

    tag: bytes
    until: float


class Replays:
    """The verified tags of the last five minutes, of all webhooks together; the oldest goes where there are too many."""

    def __init__(self, seen: Iterable[Seen] = (), most: int = MOST) -> None:
        self._until: OrderedDict[bytes, float] = OrderedDict((one.tag, one.until) for one in seen)
        self._most = most

    def take(self, claim: Claim, now: float) -> Seen | None:
        """Remember a verified claim; None where it has been seen before.

        One whose time lies ahead is remembered for as long as it would be fresh.
        """
        if self._until.get(claim.tag, 0.0) >= now:
            return None
        self._until.pop(claim.tag, None)
        while self._until and (len(self._until) >= self._most or next(iter(self._until.values())) < now):
            self._until.popitem(last=False)
        until = max(now, claim.at or 0) + FRESH_SECONDS
        self._until[claim.tag] = until
        return Seen(claim.tag, until)

    def forget(self, seen: Seen) -> None:
        """What was seen has come to nothing: it may be sent again."""
        self._until.pop(seen.tag, None)
