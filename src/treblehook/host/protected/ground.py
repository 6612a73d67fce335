"""Finds paths, and patterns of paths, among the protected places."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cache, lru_cache
from typing import Final, Literal

from msgspec import Struct

from treblehook.host.protected.places import Place
from treblehook.host.protected.steps import Folder, plain, steps
from treblehook.shell.bash.word import UNSEEN

How = Literal["inside", "holding", "above"]
"""A path is in a place; it is, or is in, the folder of a place's owner and holds the place; or it is further above."""

WILD: Final = re.compile(r"[*?\[\x00]")
_STARS: Final = re.compile(r"[*\x00]+")
_CHARACTERS: Final = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]|.", re.DOTALL)
_ROOT: Final = Folder("", "")
_STRICTER: Final[tuple[How, ...]] = ("inside", "holding", "above")


class Touch(Struct, frozen=True):
    """`path`, as it was written, and the place that it leads to."""

    path: str
    place: Place
    how: How


class _Form(Struct, frozen=True):
    """A name of a place: its `path`, and the parts of that, folded. The part at `anchor` is the folder of its owner."""

    place: Place
    path: str
    parts: tuple[str, ...]
    anchor: int


class Ground:
    """Places under all their names: as they are given, and with the links on the way to them followed as they lead now.

    The case of names does not count, since on some file systems it does not. What is in the folder `granted` is in no place around it.
    """

    def __init__(self, places: Iterable[Place], granted: str | None = None) -> None:
        self._granted = "" if granted is None else os.path.realpath(granted).casefold()
        self._at: dict[str, Place] = {}
        self._above: dict[str, list[_Form]] = {}
        self._forms: list[_Form] = []
        self._owners: set[str] = set()
        # Most places share their folders.
        real = cache(os.path.realpath)
        for place in places:
            for path, folder in _names(place, real):
                self._add(place, path, folder)

    def _add(self, place: Place, path: str, folder: str) -> None:
        folded = path.casefold()
        if folded in self._at:
            return
        parts = tuple(folded[1:].split("/"))
        form = _Form(place, path, parts, folder.count("/") - 1)
        self._at[folded] = place
        self._forms.append(form)
        self._owners.add(parts[form.anchor])
        for end in range(len(parts)):
            self._above.setdefault("/" + "/".join(parts[:end]), []).append(form)

    def literal(self, path: str, folder: Folder) -> Touch | None:
        """What `path` leads to, seen from `folder`."""
        return strictest(self._named(path, name) for name in steps(path, folder))

    def pattern(self, path: str, folder: Folder, *, stars_match_dots: bool) -> Touch | None:
        """What `path` may lead to: `*`, `?` and `[...]` in it are those of a shell, `UNSEEN` is any text."""
        if not WILD.search(path) and not WILD.search(folder.path):
            return self.literal(path, folder)
        whole = path if path.startswith(("/", UNSEEN)) else f"{folder.path}/{path}"
        return strictest(self._whole(path, reading, stars_match_dots) for reading in _readings(whole))

    def anywhere(self, path: str) -> Touch | None:
        """What the end of a path may lead to whose beginning means something else than it says."""
        parts = path.split("/")
        for first, part in enumerate(parts):
            if part.casefold() in self._owners and (found := self._anywhere("/".join(parts[first:]), True)) is not None:
                return Touch(path, *found)
        return None

    def stands_below(self, path: str, folder: Folder) -> bool:
        """Whether a place is there, in what `path` leads to."""
        names = [name.casefold() for name in steps(path, folder)]
        return any(os.path.lexists(form.path) for name in names for form in self._above.get(name, ()))

    def brings(self, source: str, called: str, target: str, folder: Folder) -> bool:
        """Whether something in the folder `source`, `called` as this pattern of a shell says, has a name that is protected in `target`.

        True also where the folder is not there yet.
        """
        there = source if source.startswith("/") else f"{folder.real}/{source}"
        if not os.path.isdir(there):
            return True
        names = [name.casefold() for name in steps(target, folder)]
        below = {form.path.split("/")[len(_parts(name)) + 1] for name in names for form in self._above.get(name, ())}
        return any(fnmatch(part, called) and os.path.lexists(f"{there}/{part}") for part in below)

    def _whole(self, path: str, whole: str, stars_match_dots: bool) -> Touch | None:
        if whole.startswith(UNSEEN):
            found = self._anywhere(whole.removeprefix(f"{UNSEEN}/"), stars_match_dots)
        elif WILD.search(whole):
            found = self._from_root(whole, stars_match_dots)
        else:
            return strictest(self._named(path, name) for name in steps(whole, _ROOT))
        return None if found is None else Touch(path, *found)

    def _named(self, path: str, name: str) -> Touch | None:
        name = name.casefold()
        if (place := self._around(name)) is not None:
            return Touch(path, place, "inside")
        above = self._above.get(name)
        if not above:
            return None
        depth = name.count("/") if name != "/" else 0
        holding = next((form for form in above if depth > form.anchor), None)
        return Touch(path, (holding or above[0]).place, "holding" if holding else "above")

    def _around(self, name: str) -> Place | None:
        """The place that a name is, or is in."""
        while name:
            if place := self._at.get(name):
                return place
            if name == self._granted:
                return None
            name = name.rpartition("/")[0]
        return None

    def names_part(self, pattern: str) -> bool:
        """Whether a pattern for the name of a file fits a place, or the folder of its owner, or what is between them."""
        test = _part(pattern.casefold(), True)
        return any(test.match(part) for form in self._forms for part in form.parts[form.anchor :])

    def _from_root(self, path: str, dots: bool) -> tuple[Place, How] | None:
        """A pattern whose first parts are literal."""
        parts = path[1:].split("/")
        first = next(index for index, part in enumerate(parts) if WILD.search(part))
        best: tuple[Place, How] | None = None
        for name in steps("/" + "/".join(parts[:first]), _ROOT):
            known = _parts(name)
            if (touch := self._named(path, name)) is not None and touch.how == "inside":
                return touch.place, "inside"
            for form in self._above.get(name.casefold(), ()):
                how = _matched(form, len(known), parts[first:], dots)
                if how == "inside":
                    return form.place, how
                if how is not None and (best is None or how == "holding"):
                    best = form.place, how
        return best

    def _anywhere(self, path: str, dots: bool) -> tuple[Place, How] | None:
        """A pattern that begins anywhere; it has to name the folder of a place's owner."""
        parts = plain(path)[1:].split("/")
        if not WILD.search(path) and self._owners.isdisjoint(part.casefold() for part in parts):
            return None
        for form in self._forms:
            for start in range(form.anchor + 1):
                named = form.anchor - start
                if named < len(parts) and _known(parts[named]) and (how := _matched(form, start, parts, dots, begun=True)):
                    return form.place, how
        return None


def _parts(name: str) -> list[str]:
    return [] if name == "/" else name[1:].split("/")


def _readings(whole: str) -> list[str]:
    """A pattern without `..`. Behind one that is not known it may lead anywhere."""
    before, up, after = whole.rpartition("/../")
    if whole.endswith("/.."):
        before, up, after = whole[:-3], "/../", ""
    readings = [whole if whole.startswith(UNSEEN) else plain(whole)]
    if up and WILD.search(before):
        readings.append(f"{UNSEEN}/{after}")
    return readings


def strictest(touches: Iterable[Touch | None]) -> Touch | None:
    """The touch that says the most."""
    found = [touch for touch in touches if touch is not None]
    return min(found, key=lambda touch: _STRICTER.index(touch.how)) if found else None


def _names(place: Place, resolved: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The paths of a place, each with its owner's folder. `resolved` is a path without links."""
    below = place.path[len(place.folder) :]
    parent, name = os.path.split(place.folder)
    yield place.path, place.folder
    for folder in (os.path.join(resolved(parent), name), resolved(place.folder)):
        yield folder + below, folder
    real = resolved(place.path)
    yield real, real


def _matched(form: _Form, start: int, pattern: Sequence[str], dots: bool, *, begun: bool = False) -> How | None:
    """How a pattern that begins at the part `start` fits a place, or with `begun` the end of one. The part at the anchor or one behind it
    has to be seen in part, and what only has wildcards of a shell in it means files that are there."""
    end = start + len(pattern)
    seen = start > form.anchor
    for index, part in enumerate(pattern[: len(form.parts) - start], start=start):
        if not _part(part.casefold(), dots).match(form.parts[index]):
            return None
        seen |= index >= form.anchor and _known(part)
    unseen = begun or any(UNSEEN in part for part in pattern)
    if (unseen and not seen) or not (unseen or os.path.lexists("/".join(form.path.split("/")[: end + 1]))):
        return None
    if end >= len(form.parts):
        return "inside"
    return "holding" if end > form.anchor else "above"


def _known(part: str) -> bool:
    return part.strip(UNSEEN) != ""


@lru_cache(maxsize=256)
def _part(part: str, dots: bool) -> re.Pattern[str]:
    """One part of a path. What it begins with matches no dot unless it is one, as in a shell, or `dots` says so."""
    first, *rest = _STARS.split(part)
    hidden = "" if dots or part.startswith(UNSEEN) or _one(first[:1]) != "." else r"(?!\.)"
    text = hidden + _segment(first)
    if rest:
        *middle, last = rest
        # The leftmost place of each segment is as good as any, so nothing is ever tried again.
        text += "".join(f"(?>.*?{_segment(segment)})" for segment in middle) + f".*{_segment(last)}"
    return re.compile(text + r"\Z", re.DOTALL)


def _segment(text: str) -> str:
    # A bracket that is not closed is a character; looking for the end of each would take long.
    head, close, tail = text.rpartition("]")
    return "".join(map(_one, _CHARACTERS.findall(head + close))) + re.escape(tail).replace(r"\?", ".")


def _one(piece: str) -> str:
    # What is in brackets is not looked at: nothing is lost but a question too many.
    return "." if piece in ("", "?") or piece.startswith("[") else re.escape(piece)
