"""The lines of a makefile, and what each of them is (murmur.md 5.7)."""

import os
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable

INCLUDE: Final = re.compile(r"[ \t]*(?P<kind>include|-include|sinclude)[ \t]+(?P<names>.*)")
CONDITION: Final = re.compile(r"[ \t]*(ifdef|ifndef|ifeq|ifneq)\b")
_CONDITION_END: Final = re.compile(r"[ \t]*endif\b")
_MODIFIERS: Final = r"[ \t]*(?:(?:override|export|private|unexport)[ \t]+)*"
BEYOND: Final = re.compile(rf"{_MODIFIERS}(?:define\b|undefine\b|\.RECIPEPREFIX\b|load\b|-load\b|\$|[^:=#]*\$[^:=]*=)")
"""What can make or change rules in a way that is not followed here, a computed name among it."""
_EVALUATES: Final = re.compile(r"\$[({][ \t]*(?:eval|guile|call[ \t]*(?:eval|guile|[^ \t\w.-]))")
"""What makes rules of a text; a function whose name is computed may be one."""
_ASSIGNMENT: Final = re.compile(rf"{_MODIFIERS}[^ \t:=#]*?[ \t]*(?:::?:?=|[?+!]?=)")
_DIRECTIVE: Final = re.compile(r"[ \t]*(?:else|endif|ifn?def|ifn?eq|vpath|export|unexport|[-s]?include)(?:[ \t]|$)")
_WITHIN_A_RULE: Final = re.compile(r"[ \t]*(?:#|$|(?:else|endif|ifn?def|ifn?eq)(?:[ \t]|$))")
"""Lines that do not end a rule."""
STRANGE: Final = "$\\*?[~(;"
"""A target with one of these is another than it looks like."""


class Line(Struct, frozen=True):
    """A line as the reader sees it: `text` with continued lines joined, `depth` of the conditions around it."""

    text: str
    depth: int = 0


def lines_of(files: Files, folder: str, path: str, depth: int, *, optional: bool = False) -> Iterator[str]:
    """The lines of a makefile with those that it includes behind, between two of the line that includes them: both end a rule."""
    if depth > DEEPEST + 1:
        raise Unreadable(f"includes are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return
        raise Unreadable(f"{path} is not there")
    for line in _joined(text):
        yield line
        found = None if line.startswith("\t") else INCLUDE.fullmatch(line)
        if found is None:
            continue
        for name in included(found["names"]):
            beside = include_path(folder, path, name)
            yield from lines_of(files, folder, beside, depth + 1, optional=found["kind"] != "include")
        yield line


def included(names: str) -> list[str]:
    words = words_of(names.partition("#")[0])
    if any(character in word for word in words for character in "$*?[~\\"):
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
    """Lines, those outside recipes with what continues them. Raises `Unreadable` where a rule is continued, or a recipe without a tab."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    lines.reverse()
    while lines:
        line = lines.pop()
        if line.startswith("\t"):
            if goes_on(line) and lines and lines[-1] and not lines[-1].startswith("\t"):
                raise Unreadable("a recipe line is continued without a tab")
        else:
            while goes_on(line):
                if targets_of(line[:-1]):
                    raise Unreadable("a rule line is continued")
                line = f"{line[:-1]} {lines.pop() if lines else ''}"
        yield line


def goes_on(line: str) -> bool:
    """Whether the next line belongs to it: two backslashes are none."""
    return bool((len(line) - len(line.rstrip("\\"))) % 2)


def with_conditions(lines: Iterator[str]) -> Iterator[Line]:
    """The lines with the depth of the conditions around them; the directives themselves are inside."""
    depth, in_rule = 0, False
    for line in lines:
        if line.startswith("\t"):
            # Outside a rule, make reads it like any other line.
            if not in_rule and (INCLUDE.match(line) or CONDITION.match(line) or _computes(line)):
                raise Unreadable("a directive is led by a tab")
            yield Line(line, depth)
            continue
        if _computes(line):
            raise Unreadable("rules are computed")
        in_rule = is_rule(line) or (in_rule and _WITHIN_A_RULE.match(line) is not None)
        depth += CONDITION.match(line) is not None
        yield Line(line, depth)
        depth = max(0, depth - (_CONDITION_END.match(line) is not None))


def _computes(line: str) -> bool:
    return BEYOND.match(line) is not None or _EVALUATES.search(line) is not None


def is_rule(line: str) -> bool:
    return ":" in uncommented(line) and not line.startswith("\t") and not _ASSIGNMENT.match(line) and not _DIRECTIVE.match(line)


def uncommented(line: str) -> str:
    """Without its comment, which a backslash keeps from being one."""
    return line if "#" not in line else re.split(r"(?<!\\)#", line)[0]


def targets_of(line: str) -> list[str]:
    """What a rule line makes, patterns too; none for any other line. Raises `Unreadable` where a target is computed."""
    if not is_rule(line):
        return []
    before = line.partition(":")[0]
    if any(character in before for character in STRANGE):
        raise Unreadable("a target is computed")
    targets = [plain(word) for word in words_of(before.strip(" \t").removesuffix("&"))]
    if len({"%" in target for target in targets}) > 1:
        raise Unreadable("patterns are mixed with targets")
    return targets


def prerequisites_of(line: str) -> list[str]:
    """What a rule line wants to be there first. Raises `Unreadable` where that is not a plain list."""
    behind = uncommented(line).partition(":")[2].removeprefix(":")
    if any(character in behind for character in f":={STRANGE}"):
        raise Unreadable("prerequisites are computed")
    return [plain(word) for word in words_of(behind.replace("|", " "))]


def plain(target: str) -> str:
    """make takes `./` away in front of a target."""
    return re.sub(r"^(?:\./+)+", "", target)


def words_of(text: str) -> list[str]:
    """Only blanks and tabs are between words, whatever else Unicode has."""
    return [word for word in re.split("[ \t]+", text) if word]
