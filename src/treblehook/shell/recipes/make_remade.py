"""Makefiles that make would make first, by a rule of theirs or one that is built in: then they say something else than what was read."""

import os
from collections.abc import Iterable
from typing import Final

from treblehook.shell.recipes.files import Files, Unreadable
from treblehook.shell.recipes.make_lines import plain

_SOURCES: Final = (
    *(".o", ".c", ".cc", ".C", ".cpp", ".p", ".f", ".F", ".m", ".r", ".s", ".S"),
    *(".mod", ".sh", ".y", ".l", ".w", ".web", ",v"),
)
"""What the rules that are built in make a file of the same name from."""
_VERSIONS: Final = ("RCS", "SCCS")


def names_of_makefiles(files: Files, folder: str) -> set[str]:
    """Those that were read or looked for, as rules in `folder` name them."""
    below = os.path.join(folder, "")
    return {plain(path.removeprefix(below)) for path in files.asked}


def check_targets(files: Files, targets: set[str], names: set[str], folder: str) -> None:
    """Raises `Unreadable` where one of the rules may make a makefile."""
    if ".DEFAULT" in targets or names & targets:
        raise Unreadable("a makefile is made by a rule")
    if any(_fits(target, name) for target in targets if "%" in target for name in names):
        raise Unreadable("a makefile is made by a pattern")
    check_sources(files, names, folder, [target for target in targets if target.startswith(".") and target.count(".") == 1])


def check_sources(files: Files, names: set[str], folder: str, suffixes: Iterable[str] = ()) -> None:
    """Raises `Unreadable` where a file lies beside a makefile that make would make it from."""
    beside = {parent: files.names(os.path.join(folder, parent)) for parent in {os.path.dirname(name) for name in names}}
    for name in names:
        parent, base = os.path.split(name)
        there = beside[parent]
        if f"s.{base}" in there or any(base + suffix in there for suffix in (*_SOURCES, *suffixes)):
            raise Unreadable(f"make may make {name} from a file beside it")
    if any(folder in there for there in beside.values() for folder in _VERSIONS):
        raise Unreadable("make may take a makefile from a version control of old")


def check_stems(files: Files, names: Iterable[str], folder: str) -> None:
    """Raises `Unreadable` where a file lies beside one of these that differs in its ending alone, as `a.c` beside `a.o`."""
    for name in names:
        parent, base = os.path.split(name)
        stem, ending = os.path.splitext(base)
        there = files.names(os.path.join(folder, parent))
        if ending and any(stem + source in there for source in _SOURCES if source != ending):
            raise Unreadable(f"make may make {name} from a file beside it")


def _fits(pattern: str, name: str) -> bool:
    before, _, after = pattern.partition("%")
    tried = name if "/" in pattern else os.path.basename(name)
    return len(tried) > len(before) + len(after) and tried.startswith(before) and tried.endswith(after)
