"""Commands that put files elsewhere: which of their words they only read, and which they change."""

import re
from typing import Final

from msgspec import Struct

from treblehook.shell.bash.commands import Simple

_PLAIN_OPTIONS: Final = {
    "cp": re.compile(r"-[adfHiLnPpRruvx]+|--(?:archive|force|no-clobber|preserve(?:=.*)?|recursive|update|verbose)"),
    "install": re.compile(r"-[CDpv]+|--(?:mode|owner|group)=.*"),
    "mv": re.compile(r"-[finuv]+|--(?:force|no-clobber|update|verbose)"),
    "rsync": re.compile(r"-[aAcDghHlnopPrtuvxXz]+|--(?:archive|compress|dry-run|exclude=.*|include=.*|progress|recursive|stats|verbose)"),
    "scp": re.compile(r"-[346Cpqrv]+"),
}
"""The options with which a program takes sources, and then one target."""

COPYING: Final = frozenset({"ln", *_PLAIN_OPTIONS})
"""Programs that put files under their own names into a folder."""


class Copy(Struct, frozen=True):
    """Words of a command: `target` gets what is at `sources`; with `moves` that is no longer there."""

    sources: tuple[str, ...]
    target: str
    moves: bool


def copy_of(command: Simple) -> Copy | None:
    """What a command copies or moves; None where it is another, or is not understood."""
    if not command.words or command.assignments:
        return None
    name = command.words[0].raw
    options = _PLAIN_OPTIONS.get(name)
    if options is None or any(character in word.raw for word in command.words for character in "$`{"):
        return None
    operands: list[str] = []
    for word in command.words[1:]:
        if not word.text.startswith("-"):
            operands.append(word.text)
        elif not options.fullmatch(word.text):
            return None
    return Copy(tuple(operands[:-1]), operands[-1], name == "mv") if len(operands) > 1 else None
