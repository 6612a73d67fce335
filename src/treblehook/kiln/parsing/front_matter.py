"""The YAML between two `---` lines at the head of a note. What is no valid YAML counts as none, and is no error."""

import re
from typing import Any, Final

from msgspec import Struct

from treblehook.kiln.parsing.whole import whole

LONGEST: Final = 65_536
"""Characters of front matter that are read; anything longer was not written by a person, and would take seconds."""

_BLOCK: Final = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})


class FrontMatter(Struct, frozen=True):
    """`values` holds texts, as they are written, in lists and mappings; `end` is where the body begins."""

    values: dict[str, Any]
    text: str
    end: int


_NONE: Final = FrontMatter({}, "", 0)


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a note's text."""
    if not text.startswith("---"):
        return _NONE
    block = _BLOCK.match(text)
    if block is None:
        return _NONE
    return FrontMatter(_loaded(block[1]), block[1], block.end())


def title_in(values: dict[str, Any]) -> str:
    """The title, "" where there is none."""
    title = values.get("title")
    return "" if not isinstance(title, str) or title.strip() in _NOTHING else whole(" ".join(title.split()))


def tags_in(values: dict[str, Any]) -> list[str]:
    """The tags under `tags` or `tag`: a list, or a text with commas or spaces between them."""
    found: list[str] = []
    for key in ("tags", "tag"):
        given = values.get(key)
        words = re.split(r"[,\s]+", given) if isinstance(given, str) else given if isinstance(given, list) else []
        found += [whole(word).strip().lstrip("#").rstrip("/") for word in words if isinstance(word, str)]
    return [tag for tag in found if tag not in _NOTHING]


def _loaded(text: str) -> dict[str, Any]:
    import yaml

    if len(text) > LONGEST:
        return {}
    # The base loader keeps every scalar as the text it is written as, so that a title "007" stays one, and makes no objects.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        values = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
