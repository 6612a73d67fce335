"""What a user looks for, in terms that SQLite understands; no input is a syntax error."""

import re
from typing import Final

from msgspec import Struct

from treblehook.kiln.parsing.whole import whole

_PART: Final = re.compile(r'"([^"]*)"|([^\s"]+)')
_MOST: Final = 32
"""Words of a query that are looked for; a longer text is looked for by meaning."""


class Term(Struct, frozen=True):
    """A word or a phrase as FTS5 expressions: as it is, and as a beginning."""

    exact: str
    wide: str


def terms(text: str) -> list[Term]:
    """The terms of a query: `"two words"` is a phrase, and `wor*` a beginning from the first."""
    found: dict[Term, None] = {}
    for phrase, word in _PART.findall(whole(text.replace("\0", " "))):
        term = f'"{phrase or word}"'
        if any(character.isalnum() for character in term):
            beginning = f"{term} *"
            found[Term(beginning if word.endswith("*") else term, term if phrase else beginning)] = None
    return list(found)[:_MOST]
