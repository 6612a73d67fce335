"""Tags in the text of a note: `#tag`, `#nested/tag`."""

import re
from collections.abc import Iterable
from typing import Final

_TAG: Final = re.compile(r"#([^\s#,.;:!?()\[\]{}\"'`<>|\\@$%^&*+=~]+)")
_BEFORE: Final = frozenset("([{,;")
"""What a tag may follow, beside white space."""

_LINK: Final = re.compile(r"\[\[[^\[\]\r\n]*\]\]|\]\([^()\r\n]*\)")


def tags_of(plain: str) -> list[str]:
    """The tags in a text without code, outside of its links. A tag has at least one character that is no digit."""
    if "#" not in plain:
        return []
    text = _LINK.sub(" ", plain)
    found = []
    for tag in _TAG.finditer(text):
        before = text[tag.start() - 1] if tag.start() else " "
        if (before.isspace() or before in _BEFORE) and not (name := tag[1].rstrip("/")).isdigit():
            found.append(name)
    return found


def merged(*groups: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, whatever its case, as it is first written."""
    found: dict[str, str] = {}
    for group in groups:
        for tag in group:
            if tag:
                found.setdefault(tag.casefold(), tag)
    return tuple(found.values())
