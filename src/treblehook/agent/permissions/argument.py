"""The main argument of a call as the rules see it: in every form that a denial must reach, and in those that an allowance needs."""

from msgspec import Struct


class Argument(Struct, frozen=True):
    """What the patterns of rules are held against.

    A deny or ask rule holds if its pattern covers one of `forms`, or a part of one of `loose` between word boundaries. Of the
    texts in `unseen`, some parts (`pattern.UNSEEN`) are known only to whatever runs the call: a deny or ask rule *may* hold.
    An allow rule with a pattern has to cover, for each of `parts`, one of its forms; where there are no parts none holds.
    """

    forms: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    loose: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    command: bool = False


def plain_argument(text: str) -> Argument:
    """A main argument that is what it says."""
    return Argument((text,), ((text,),))
