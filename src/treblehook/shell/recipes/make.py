"""`make TARGET` (murmur.md 5.7)."""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable
from treblehook.shell.recipes.options import read_arguments

_APART: Final = {"-f": "file", "-C": "directory"}
_JOINED: Final = {"--file": "file", "--makefile": "file", "--directory": "directory"}
_INCLUDE: Final = re.compile(r" *(?P<kind>include|-include|sinclude)[ \t]+(?P<names>.*)")
_CONDITION: Final = re.compile(r" *(ifdef|ifndef|ifeq|ifneq)\b")
_CONDITION_END: Final = re.compile(r" *endif\b")
_BEYOND: Final = re.compile(r" *(?:(?:override|export|private)[ \t]+)*(?:define\b|undefine\b|\.RECIPEPREFIX\b|load\b|-load\b|\$)")
"""What can make or change rules in a way that is not followed here."""
_ASSIGNMENT: Final = re.compile(r"[^:=#]*(?:::?:?=|[?+!]?=)")


class _Line(Struct, frozen=True):
    """A line as the reader sees it: `text` with continued lines joined, `depth` of the conditions around it."""

    text: str
    depth: int = 0


def make_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The recipe of the one target that is named, line by line and not expanded. Raises `Unreadable`."""
    arguments = read_arguments(argv, _APART, _JOINED)
    folder = files.folder(arguments.options.get("directory", "."))
    makefile = _makefile(files, folder, arguments.options.get("file"))
    if makefile is None or "$" in arguments.name or "%" in arguments.name:
        return None
    lines = list(_conditions(_lines(files, folder, makefile, 1)))
    if any(line.text.startswith("\t") and line.text.strip() for line in itertools.takewhile(lambda line: not _is_rule(line.text), lines)):
        # A recipe without a rule: make refuses the file.
        return None
    rules = [at for at, line in enumerate(lines) if arguments.name in _targets(line.text)]
    if len(rules) != 1:
        return None
    return _body(lines, rules[0])


def _makefile(files: Files, folder: Path, name: str | None) -> Path | None:
    if name is not None:
        return folder / name
    return next((folder / name for name in ("GNUmakefile", "makefile", "Makefile") if files.exists(folder / name)), None)


def _lines(files: Files, folder: Path, path: Path, depth: int, *, optional: bool = False) -> Iterator[str]:
    """The lines of a makefile with those that it includes in their place."""
    if depth > DEEPEST + 1:
        raise Unreadable(f"includes are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return
        raise Unreadable(f"{path} is not there")
    for line in _joined(text):
        found = None if line.startswith("\t") else _INCLUDE.fullmatch(line)
        if found is None:
            yield line
            continue
        for name in _included(found["names"]):
            # make looks beside its own folder, whatever file asks.
            if not _same(path.parent / name, folder / name):
                raise Unreadable(f"{name} is included from another folder")
            yield from _lines(files, folder, path.parent / name, depth + 1, optional=found["kind"] != "include")


def _included(names: str) -> list[str]:
    words = names.partition("#")[0].split()
    if any(character in word for word in words for character in "$*?[~"):
        raise Unreadable("an include is computed")
    return words


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _joined(text: str) -> Iterator[str]:
    """Lines, those outside recipes with what continues them. Raises `Unreadable` where a rule line is continued."""
    lines = iter(text.split("\n"))
    for line in lines:
        line = line.removesuffix("\r")
        if line.startswith("\t"):
            yield line
            continue
        while line.endswith("\\"):
            if _targets(line[:-1]):
                raise Unreadable("a rule line is continued")
            line = f"{line[:-1]} {next(lines, '').removesuffix(chr(13))}"
        yield line


def _conditions(lines: Iterator[str]) -> Iterator[_Line]:
    """The lines with the depth of the conditions around them; the directives themselves are inside."""
    depth = 0
    for line in lines:
        if not line.startswith("\t") and _BEYOND.match(line):
            raise Unreadable("rules are computed")
        opens = not line.startswith("\t") and _CONDITION.match(line) is not None
        closes = not line.startswith("\t") and _CONDITION_END.match(line) is not None
        depth += opens
        yield _Line(line, depth)
        depth = max(0, depth - closes)


def _is_rule(line: str) -> bool:
    return ":" in line and not line.startswith("\t") and not line.lstrip().startswith("#") and not _ASSIGNMENT.match(line)


def _targets(line: str) -> list[str]:
    """What a rule line makes; none for any other line."""
    targets = line.partition(":")[0].split() if _is_rule(line) else []
    return [] if any("%" in target or "$" in target for target in targets) else targets


def _body(lines: list[_Line], at: int) -> str | None:
    rule = lines[at]
    if rule.depth or ";" in rule.text.partition(":")[2].partition("#")[0]:
        return None
    body: list[str] = []
    for line in lines[at + 1 :]:
        if not line.text.startswith("\t"):
            break
        body.append(line.text[1:])
    if not body or body[-1].endswith("\\"):
        return None
    return None if _goes_on(lines[at + 1 + len(body) :]) else "\n".join(body)


def _goes_on(lines: list[_Line]) -> bool:
    """Whether the recipe has more lines behind a blank, a comment, a condition or an assignment: only another rule ends it."""
    for line in lines:
        if line.text.startswith("\t"):
            return True
        if _is_rule(line.text):
            return False
    return False
