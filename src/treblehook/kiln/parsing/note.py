"""A note as the index keeps it."""

import json
from typing import Any, Final

from msgspec import Struct

from treblehook.kiln.parsing.code import without_code
from treblehook.kiln.parsing.front_matter import FrontMatter, read_front_matter, tags_in, title_in
from treblehook.kiln.parsing.headings import headings_of
from treblehook.kiln.parsing.links import Link, canvas_links, markdown_links, wiki_links
from treblehook.kiln.parsing.tags import merged, tags_of
from treblehook.kiln.parsing.whole import whole

MARK: Final = "\ufeff"
"""The byte order mark that some editors put before a text."""


class ParsedNote(Struct, frozen=True):
    """`front` is the front matter as it is written, `body` the text behind it; `links` come in the order of the text."""

    title: str
    tags: tuple[str, ...]
    headings: tuple[str, ...]
    links: tuple[Link, ...]
    front: str
    body: str


def parse(text: str, stem: str, *, canvas: bool = False) -> ParsedNote:
    """Read a note. Its title is that of its front matter, else its first heading, else `stem` (crucible.md 7.2)."""
    if canvas:
        return _parse_canvas(text, stem)
    found, plain, start = _plain(text)
    body, plain_body = text[start:], plain[start:]
    headings = headings_of(body, plain_body)
    title = title_in(found.values) or (headings[0] if headings else stem)
    tags = merged(tags_in(found.values), tags_of(plain_body))
    return ParsedNote(title, tags, headings, tuple(_links(plain)), found.text, body)


def links_of(text: str, *, canvas: bool = False) -> list[Link]:
    """Every link of a note's text, in order."""
    if canvas:
        return sorted(wiki_links(text) + canvas_links(text), key=_start)
    return _links(_plain(text)[1])


def _links(plain: str) -> list[Link]:
    return sorted(wiki_links(plain) + markdown_links(plain), key=_start)


def _plain(text: str) -> tuple[FrontMatter, str, int]:
    """The front matter, the text without its code and of the same length, and where the body begins."""
    marked = text.startswith(MARK)
    found = read_front_matter(text[1:] if marked else text)
    start = found.end + marked
    return found, text[:start] + without_code(text[start:]), start


def _parse_canvas(text: str, stem: str) -> ParsedNote:
    """A canvas is JSON: its text cards are its body, and the files on it are links."""
    try:
        values = json.loads(text.removeprefix(MARK))
    except (ValueError, RecursionError):
        values = None
    cards = _texts(values)
    plain = without_code("\n\n".join(cards))
    links = tuple(links_of(text, canvas=True))
    return ParsedNote(stem, merged(tags_of(plain)), headings_of(plain, plain), links, "", "\n\n".join(cards) or text)


def _texts(values: Any) -> list[str]:
    nodes = values.get("nodes") if isinstance(values, dict) else None
    cards = [node.get("text") or node.get("label") for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
    return [whole(card) for card in cards if isinstance(card, str)]


def _start(link: Link) -> int:
    return link.start
