"""Which note a link means, and how a link to a note is written."""

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from treblehook.kiln.files.paths import stem_of
from treblehook.kiln.parsing import Link, link_key

UNLINKABLE: Final = "[]|#^\\\r\n"
"""Characters that the target of a wikilink cannot have."""

_MARKDOWN: Final = (".md", ".markdown")


class Meaning:
    """The notes of a kiln, by the key under which links look for them. Only those keys need to be there that are asked for."""

    def __init__(self, notes: Mapping[str, Iterable[str]]) -> None:
        self._notes = {key: sorted(paths) for key, paths in notes.items()}

    def of(self, link: Link, source: str) -> str | None:
        """The note that a link in the note `source` means; None for none, and where it may be several."""
        paths = self._notes.get(link_key(link.target), [])
        if link.kind == "canvas":
            return next((path for path in paths if path == link.target), None)
        if link.kind == "markdown":
            return _only(paths, joined(source, link.target))
        if link.target.startswith(("./", "../")):
            return _only(paths, joined(source, link.target))
        return self._wiki(paths, link.target.strip("/"))

    def stem_is_enough(self, path: str) -> bool:
        """Whether `[[stem]]` means the note `path` and no other."""
        return self._wiki(self._notes.get(link_key(path), []), stem_of(path)) == path

    def _wiki(self, paths: Sequence[str], target: str) -> str | None:
        if "/" not in target:
            return _preferred(_ending(paths, target))
        exact = _only(paths, target)
        return exact if exact is not None else _preferred(_ending(paths, target))


def _ending(paths: Sequence[str], target: str) -> list[str]:
    """The notes whose path is, or ends with, the target, with or without a suffix."""
    wanted = _folded(target).split("/")
    found = []
    for path in paths:
        parts = _folded(path).split("/")[-len(wanted) :]
        if parts == wanted or [*parts[:-1], stem_of(parts[-1])] == wanted:
            found.append(path)
    return found


def _preferred(paths: Sequence[str]) -> str | None:
    """The one that is meant: a Markdown note before a canvas or a text of the same name, and no other choice."""
    if len(paths) > 1:
        paths = [path for path in paths if path.lower().endswith(_MARKDOWN)] or paths
    return paths[0] if len(paths) == 1 else None


def _only(paths: Sequence[str], target: str | None) -> str | None:
    """The note at exactly this path, with or without its suffix; its case may differ where that leaves no choice."""
    if target is None:
        return None
    exact = [path for path in paths if target in (path, path[: len(path) - len(os.path.basename(path))] + stem_of(path))]
    if exact:
        return _preferred(exact)
    wanted = _folded(target)
    return _preferred([path for path in paths if wanted in (_folded(path), _folded(os.path.splitext(path)[0]))])


def joined(source: str, target: str) -> str | None:
    """A target that is relative to the folder of `source`, as a path of the kiln; None where it leads out of it."""
    path = os.path.normpath(os.path.join(os.path.dirname(source), target))
    return None if path.startswith("..") or os.path.isabs(path) else path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
