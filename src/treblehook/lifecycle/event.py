"""What every event has in common, and how an event declares the rule by which its answers combine."""

from enum import Enum
from typing import ClassVar, Self

from msgspec import Struct
from msgspec.structs import replace

from treblehook.lifecycle.decisions import Block, Decision, Refuse, Rewrite


class Fold(Enum):
    """The five ways to combine decisions (design, section 4)."""

    CHAIN = "chain"
    FIRST = "first"
    GATHER = "gather"
    GATE = "gate"
    NOTIFY = "notify"


class Keep(Enum):
    """Which contributions of a gather count."""

    ALL = "all"
    FIRST = "first"
    LAST = "last"
    PER_KEY = "per key"


class Event(Struct, frozen=True, kw_only=True):
    """One thing that happens at a lifecycle point.

    `session` is "" for daemon events that belong to none; `workspace` is the session's folder; `spawned` is true in a
    session that another agent started.
    """

    fold: ClassVar[Fold] = Fold.NOTIFY
    keep: ClassVar[Keep] = Keep.ALL
    accepts: ClassVar[tuple[type[Decision], ...]] = ()
    rewrites: ClassVar[frozenset[str]] = frozenset()
    targeted: ClassVar[bool] = False

    session: str = ""
    workspace: str = ""
    spawned: bool = False

    @property
    def target(self) -> str | None:
        """The identifier that a handler's pattern is matched against; None where the event has none."""
        return None

    def rewritten(self, change: Rewrite) -> Self:
        """This event with `change` applied; only the fields in `rewrites` may be set."""
        return replace(self, **{name: getattr(change, name) for name in change.fields()})

    @classmethod
    def strictest(cls, reason: str) -> Block | Refuse | None:
        """What a closed handler's failure becomes; None where the event accepts neither a block nor a refusal."""
        if Block in cls.accepts:
            return Block(reason)
        if Refuse in cls.accepts:
            return Refuse(reason)
        return None
