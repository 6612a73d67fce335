"""What every event has in common, and how an event declares what it accepts and how its answers combine."""

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from treblehook.lifecycle.decisions import Block, Decision, Refuse, Rewrite

D_co = TypeVar("D_co", covariant=True)


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


class _Kinds:
    """What `Accepts[...]` is in a class statement: no base class, only the kinds of decisions."""

    def __init__(self, kinds: Any) -> None:
        self.kinds: tuple[type[Decision], ...] = get_args(kinds) or (kinds,)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


if TYPE_CHECKING:

    class Accepts(Generic[D_co]):
        """What a handler of the event may answer."""

        def _binding(self) -> tuple[Self, D_co]: ...

else:

    class Accepts:
        """Declares the decisions that an event accepts, as in `class ToolGate(ToolEvent, Accepts[Refuse])`.

        One declaration for both: a type checker reads it, and it fills `Event.accepts`.
        """

        def __class_getitem__(cls, kinds):
            return _Kinds(kinds)


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

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for base in cls.__dict__.get("__orig_bases__", ()):
            if isinstance(base, _Kinds):
                cls.accepts = base.kinds

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
