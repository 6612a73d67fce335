"""The lines of a makefile, and what each of them is (murmur.md 5.7)."""

import os
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable

INCLUDE: Final = re.compile(r" *(?P<kind>include|-include|sinclude)[ \t]+(?P<names>.*)")
CONDITION: Final = re.compile(r" *(ifdef|ifndef|ifeq|ifneq)\b")
_CONDITION_END: Final = re.compile(r" *endif\b")
BEYOND: Final = re.compile(r" *(?:(?:override|export|private)[ \t]+)*(?:define\b|undefine\b|\.RECIPEPREFIX\b|load\b|-load\b|\$)")
"""What can make or change rules in a way that is not followed here."""
_ASSIGNMENT: Final = re.compile(r"[^:=#]*(?:::?:?=|[?+!]?=)")


class Line(Struct, frozen=True):
    """A line as the reader sees it: `text` with continued lines joined, `depth` of the conditions around it."""

    text: str
    depth: int = 0


def lines_of(files: Files, folder: str, path: str, depth: int, *, optional: bool = False) -> Iterator[str]:
    """The lines of a makefile with those that it includes in their place."""
    if depth > DEEPEST + 1:
        raise Unreadable(f"includes are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return
        raise Unreadable(f"{path} is not there")
    for line in _joined(text):
        found = None if line.startswith("\t") else INCLUDE.fullmatch(line)
        if found is None:
            yield line
            continue
        for name in included(found["names"]):
            beside = include_path(folder, path, name)
            yield from lines_of(files, folder, beside, depth + 1, optional=found["kind"] != "include")


def included(names: str) -> list[str]:
    words = names.partition("#")[0].split()
    if any(character in word for word in words for character in "$*?[~"):
        raise Unreadable("an include is computed")
    return words


def include_path(folder: str, path: str, name: str) -> str:
    """The file that `path` includes. make looks beside its own folder, whatever file asks. Raises `Unreadable` where that differs."""
    here = os.path.dirname(path)
    beside = os.path.join(here, name)
    if here != folder and os.path.realpath(beside) != os.path.realpath(os.path.join(folder, name)):
        raise Unreadable(f"{name} is included from another folder")
    return beside


def _joined(text: str) -> Iterator[str]:
    """Lines, those outside recipes with what continues them. Raises `Unreadable` where a rule line is continued."""
    lines = iter(text.split("\n"))
    for line in lines:
        line = line.removesuffix("\r")
        if line.startswith("\t"):
            yield line
            continue
        while line.endswith("\\"):
            if targets_of(line[:-1]):
                raise Unreadable("a rule line is continued")
            line = f"{line[:-1]} {next(lines, '').removesuffix(chr(13))}"
        yield line


def with_conditions(lines: Iterator[str]) -> Iterator[Line]:
    """The lines with the depth of the conditions around them; the directives themselves are inside."""
    depth = 0
    for line in lines:
        if not line.startswith("\t") and BEYOND.match(line):
            raise Unreadable("rules are computed")
        opens = not line.startswith("\t") and CONDITION.match(line) is not None
        closes = not line.startswith("\t") and _CONDITION_END.match(line) is not None
        depth += opens
        yield Line(line, depth)
        depth = max(0, depth - closes)


def is_rule(line: str) -> bool:
    return ":" in line and not line.startswith("\t") and not line.lstrip().startswith("#") and not _ASSIGNMENT.match(line)


def targets_of(line: str) -> list[str]:
    """What a rule line makes; none for any other line."""
    targets = line.partition(":")[0].split() if is_rule(line) else []
    return [] if any("%" in target or "$" in target for target in targets) else targets
