"""The headings of a note."""

import re
from typing import Final

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\r\n]*)", re.MULTILINE)
_UNDERLINED: Final = re.compile(
    # A line above a row of = or -, which does not itself begin a list, a quotation or a table.
    r"^(?![-*+>|#=][ \t|>]|\d+[.)][ \t])([^\s][^\r\n]*)\r?\n {0,3}(?:=+|-{2,})[ \t]*\r?$",
    re.MULTILINE,
)


def headings_of(text: str, plain: str) -> tuple[str, ...]:
    """The headings in order, without those that are empty; `plain` is `text` without its code, of the same length."""
    spans = [heading.span(1) for heading in _HEADING.finditer(plain)] if "#" in plain else []
    if "\n=" in plain or "\n--" in plain:
        spans = sorted(spans + [heading.span(1) for heading in _UNDERLINED.finditer(plain)])
    found = []
    for start, end in spans:
        words = _without_closing(text[start:end].strip())
        if words:
            found.append(words)
    return tuple(found)


def _without_closing(words: str) -> str:
    """The words of a heading without the row of # that may end it."""
    before = words.rstrip("#")
    return before.rstrip() if before == "" or before[-1] in " \t" else words
