"""One word of a command line: as it is written, and as much of what it becomes as can be seen without running a shell."""

import re
from typing import Final

from msgspec import Struct

UNSEEN: Final = "\0"
"""In a text: some part that cannot be known before the command runs."""


_SIMPLE_BRACES = re.compile(r"\{([\w./:=+-]*(?:,[\w./:=+-]*)+)\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")


class Unreadable(Exception):
    """A command is not the bash that the reader knows; what it would run cannot be said."""


class Word(Struct, frozen=True):
    """`raw` is the source. `text` has the quotes removed and expansions as they are written, `seen` has `UNSEEN` for each
    expansion instead."""

    raw: str
    text: str
    seen: str

    @property
    def bare(self) -> str:
        """What the word is while its variables are unset; a plain list in braces is written out."""
        braces = _SIMPLE_BRACES.fullmatch(self.raw)
        return braces[1].replace(",", " ") if braces else self.seen.replace(UNSEEN, "")

    @property
    def assigns(self) -> bool:
        """True for `NAME=value`, which is no argument where a command begins."""
        return _ASSIGNMENT.match(self.raw) is not None


class WordBuilder:
    """Collects a word from its pieces."""

    def __init__(self) -> None:
        self.text = ""
        self.seen = ""
        self._braces: list[tuple[int, bool]] = []

    def known(self, piece: str) -> None:
        """Add characters that stay as they are."""
        self.text += piece
        self.seen += piece

    def unseen(self, source: str) -> None:
        """Add what the shell replaces."""
        self.text += source
        self.seen += UNSEEN

    def folder(self, source: str) -> None:
        """Add what the shell replaces by an absolute path."""
        self.text += source
        self.seen += f"/{UNSEEN}"

    def brace(self, character: str) -> None:
        """Add an unquoted `{`, `,` or `}`; a list or a range in braces becomes unseen as a whole."""
        self.known(character)
        if character == "{":
            self._braces.append((len(self.seen) - 1, False))
        elif self._braces and character == ",":
            self._braces[-1] = (self._braces[-1][0], True)
        elif self._braces and character == "}":
            start, listed = self._braces.pop()
            if listed or ".." in self.seen[start:]:
                self.seen = self.seen[:start] + UNSEEN

    @property
    def assigning(self) -> bool:
        """True right behind `NAME=`, where a parenthesis opens an array."""
        return _ASSIGNMENT.fullmatch(self.text) is not None

    def done(self, raw: str) -> Word:
        """The word, written as `raw`."""
        return Word(raw, self.text, self.seen)
