"""WIT text as tokens, and a cursor that says where it is when something else was expected."""

import re
from typing import Final

from msgspec import Struct

_TOKEN: Final = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<version>@\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)"
    r"|(?P<name>%?[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)"
    r"|(?P<number>\d[0-9A-Za-z.+-]*)"
    r"|(?P<sign>->|[{}()<>:;,=/.@_*])",
    re.DOTALL,
)


class WitError(Exception):
    """The text is not WIT, or has what is not read here. `file` and `line` (from 1) say where, `found` and `expected` what."""

    def __init__(self, file: str, line: int, found: str, expected: str) -> None:
        super().__init__(f"{file}:{line}: found {found}, expected {expected}")
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected


class Token(Struct, frozen=True):
    text: str
    line: int
    kind: str
    """`name`, `version`, `number`, `sign`, or `end` behind the last one."""


def tokens(text: str, file: str) -> list[Token]:
    """All tokens of a text. Raises `WitError`."""
    found = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise WitError(file, line, repr(text[at]), "WIT")
        kind = match.lastgroup or ""
        if kind != "skip":
            found.append(Token(match[0].removeprefix("%"), line, kind))
        line += match[0].count("\n")
        at = match.end()
    found.append(Token("", line, "end"))
    return found


class Cursor:
    """A place in the tokens of a file."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._tokens = tokens(text, file)
        self._at = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self._at += 1
        return token

    def skip(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.next.text != text or self.next.kind == "end":
            return False
        self._at += 1
        return True

    def need(self, text: str) -> None:
        if not self.skip(text):
            raise self.error(f"`{text}`")

    def name(self) -> str:
        if self.next.kind != "name":
            raise self.error("a name")
        return self.take().text

    def error(self, expected: str) -> WitError:
        found = "the end" if self.next.kind == "end" else f"`{self.next.text}`"
        return WitError(self.file, self.next.line, found, expected)
