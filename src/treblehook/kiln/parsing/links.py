"""The links of a note: `[[target#heading|alias]]`, `![[embed]]`, `[label](relative/path.md)`, and the files on a canvas."""

import json
import re
import unicodedata
from typing import Final, Literal
from urllib.parse import unquote

from msgspec import Struct

from treblehook.kiln.parsing.whole import whole

NOTE_SUFFIXES: Final = (".md", ".markdown", ".canvas", ".txt")
"""What makes a file a note (crucible.md 1)."""

_WIKI: Final = re.compile(r"\[\[([^\[\]|#\r\n]*?)(#[^\[\]|\r\n]*?)?(\\?\|(?:(?!\]\]|\[\[)[^\r\n])*)?\]\]")
_MARKDOWN: Final = re.compile(
    r"\]\((?:<([^<>\r\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'))?[ \t]*\)"
    r"|^ {0,3}\[[^\]\r\n]+\]:[ \t]*(?:<([^<>\r\n]*)>|(\S+))",
    re.MULTILINE,
)
_CANVAS: Final = re.compile(r'"file"\s*:\s*("(?:[^"\\]|\\.)*")')
_OUTSIDE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\#?]")


class Link(Struct, frozen=True):
    """A link to `target`, which is decoded and has no anchor; it is written at `start` to `end` of the text, without its anchor.

    A `markdown` target is relative to the folder of its note, a `canvas` one to the kiln; a `wiki` target may be either, or the end
    of a path.
    """

    kind: Literal["wiki", "markdown", "canvas"]
    target: str
    start: int
    end: int


def wiki_links(plain: str) -> list[Link]:
    """The wikilinks and embeds of a text without code."""
    if "[[" not in plain:
        return []
    found = []
    for link in _WIKI.finditer(plain):
        target = link[1].strip()
        # The check is not in the pattern, which would take three times as long.
        if target and plain[link.start() - 1 : link.start()] != "\\":
            start = link.start(1) + len(link[1]) - len(link[1].lstrip())
            found.append(Link("wiki", target, start, start + len(target)))
    return found


def markdown_links(plain: str) -> list[Link]:
    """The links to relative paths in a text without code."""
    if "](" not in plain and "]:" not in plain:
        return []
    found = []
    for link in _MARKDOWN.finditer(plain):
        group = link.lastindex
        if group is None or plain[link.start() - 1 : link.start()] == "\\" or _OUTSIDE.match(link[group]):
            continue
        written = re.split(r"[#?]", link[group], maxsplit=1)[0]
        if written:
            start = link.start(group)
            found.append(Link("markdown", unquote(written), start, start + len(written)))
    return found


def canvas_links(text: str) -> list[Link]:
    """The files on a canvas, whose text is JSON."""
    found = []
    for link in _CANVAS.finditer(text):
        try:
            target = whole(json.loads(link[1]))
        except ValueError:
            continue
        if target:
            found.append(Link("canvas", target, link.start(1), link.end(1)))
    return found


def link_key(target: str) -> str:
    """What a target and the notes that it may mean have in common: the last part of the path, without its suffix and its case."""
    name = target.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    key = unicodedata.normalize("NFC", name).casefold()
    for suffix in NOTE_SUFFIXES:
        if key.endswith(suffix) and len(key) > len(suffix):
            return key[: -len(suffix)]
    return key
