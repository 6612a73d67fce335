"""Finding paths by a glob pattern."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from threading import Event

SKIPPED = frozenset({".git"})
"""Folders that no search enters by itself, only one that starts there: what version control keeps for itself."""

_Rest = tuple[str, ...]


def alternatives(pattern: str, most: int) -> list[str] | None:
    """`pattern` with its braces taken apart: `*.{a,b}` is `*.a` and `*.b`. None where that makes more than `most` patterns."""
    open_ones, done = [pattern], []
    while open_ones:
        one = open_ones.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if braces is None:
            done.append(one)
        else:
            open_ones += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
        if len(open_ones) + len(done) > most:
            return None
    return done


def matches(root: str, pattern: str, given_up: Event) -> Iterator[os.DirEntry[str]]:
    """Every file and folder below `root` whose path matches `pattern`, each once.

    `*`, `?` and `[...]` match inside one name, `**` any number of folders, also none; names that begin with a dot match too.
    `**` does not enter folders through symbolic links. Folders that cannot be read are passed over.
    """
    # A folder, and what is still to match below it. Several rests are alive at once, so nothing is visited twice.
    waiting = [(root, _skipping({tuple(filter(None, pattern.split("/")))}))]
    while waiting:
        folder, rests = waiting.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                if given_up.is_set():
                    return
                if entry.name in SKIPPED:
                    continue
                left = _after(rests, entry)
                if () in left:
                    yield entry
                if any(left) and is_folder(entry):
                    waiting.append((entry.path, left))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether `entry` is a folder, or a symbolic link to one."""
    try:
        return entry.is_dir()
    except OSError:
        # A symbolic link that leads in a circle.
        return False


def _after(rests: set[_Rest], entry: os.DirEntry[str]) -> set[_Rest]:
    """What is left to match below `entry`; the empty rest where the whole pattern has matched."""
    left: set[_Rest] = set()
    for rest in filter(None, rests):
        if rest[0] != "**":
            if fnmatchcase(entry.name, rest[0]):
                left.add(rest[1:])
        elif not (entry.is_symlink() and is_folder(entry)):
            left.add(rest)
    return _skipping(left)


def _skipping(rests: set[_Rest]) -> set[_Rest]:
    """`rests`, and what becomes of them where a leading `**` stands for no folder."""
    every = set(rests)
    for rest in rests:
        while rest and rest[0] == "**":
            rest = rest[1:]
            every.add(rest)
    return every
