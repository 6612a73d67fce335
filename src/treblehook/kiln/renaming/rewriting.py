"""The text of a note after another one, or itself, has moved."""

import json
import os
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from treblehook.kiln.parsing import Link, links_of
from treblehook.kiln.parsing.links import NOTE_SUFFIXES
from treblehook.kiln.renaming.meaning import UNLINKABLE, Meaning, joined

_PLAIN: Final = "/-_.~!$&'*+,;=@"
"""What the target of a Markdown link has as it is, beside letters and digits."""


class Unlinkable(Exception):
    """The new name of a note cannot be written in a link to it."""


class Move:
    """The note `source` becomes `destination`; `before` and `after` say what links mean, `exists` what else is in the kiln."""

    def __init__(self, source: str, destination: str, before: Meaning, after: Meaning, exists: Callable[[str], bool]) -> None:
        self._source = source
        self._destination = destination
        self._before = before
        self._after = after
        self._exists = exists

    def rewritten(self, path: str, text: str) -> str:
        """The text of the note that was at `path`, with its links repointed; all else stays as it is. Raises `Unlinkable`."""
        canvas = path.lower().endswith(".canvas")
        pieces, at = [], 0
        for link in links_of(text, canvas=canvas):
            target = self._target(path, link)
            if target is not None:
                written = _written(link, target, text, canvas=canvas)
                pieces += [text[at : link.start], written]
                at = link.end
        return "".join([*pieces, text[at:]]) if pieces else text

    def _target(self, path: str, link: Link) -> str | None:
        """What the link has to say, None where it stays as it is."""
        here = self._destination if path == self._source else path
        meant = self._before.of(link, path)
        if meant == self._source:
            return None if self._after.of(link, here) == self._destination else self._pointing(link, here)
        if path != self._source or not _is_relative(link) or os.path.dirname(path) == os.path.dirname(here):
            return None
        # The note itself has moved to another folder, from where what it names is elsewhere.
        named = joined(path, link.target)
        if named is None or (meant is None and not self._exists(named)):
            return None
        return _from(link, here, named)

    def _pointing(self, link: Link, here: str) -> str:
        """The new target of a link to the note, as near to how it was written as can be. Raises `Unlinkable`."""
        if link.kind == "canvas":
            return self._destination
        name = self._destination if _suffix(link.target) else _without_suffix(self._destination)
        if _is_relative(link):
            target = _from(link, here, name)
        elif "/" not in link.target and self._after.stem_is_enough(self._destination):
            target = os.path.basename(name)
        else:
            target = name
        odd = link.kind == "wiki" and (target != target.strip() or any(character in UNLINKABLE for character in target))
        if odd or self._after.of(replace(link, target=target), here) != self._destination:
            raise Unlinkable
        return target


def _is_relative(link: Link) -> bool:
    return link.kind == "markdown" or (link.kind == "wiki" and link.target.startswith(("./", "../")))


def _from(link: Link, here: str, path: str) -> str:
    """`path` as a relative link in the note `here`; one that began with a dot does so again."""
    target = os.path.relpath(path, os.path.dirname(here) or ".")
    return f"./{target}" if link.target.startswith(("./", "../")) and not target.startswith("../") else target


def _written(link: Link, target: str, text: str, *, canvas: bool) -> str:
    """A target as the text needs it."""
    if link.kind == "markdown":
        spaces = " " if text[link.start - 1 : link.start] == "<" else ""
        return "".join(one if one.isalnum() or one in _PLAIN or one in spaces else quote(one) for one in target)
    if canvas:
        whole = json.dumps(target, ensure_ascii=False)
        return whole if link.kind == "canvas" else whole[1:-1]
    return target


def _suffix(path: str) -> str:
    lowered = path.lower()
    return next((suffix for suffix in NOTE_SUFFIXES if lowered.endswith(suffix)), "")


def _without_suffix(path: str) -> str:
    return path[: len(path) - len(_suffix(path))]
