"""The makefile that most people write, read at the speed of a text search; what might be anything else is left to the careful reader."""

from collections.abc import Iterator
from typing import Final

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable
from treblehook.shell.recipes.make_body import body_of
from treblehook.shell.recipes.make_lines import (
    BEYOND,
    CONDITION,
    INCLUDE,
    STRANGE,
    Line,
    include_path,
    included,
    is_rule,
    prerequisites_of,
    targets_of,
)
from treblehook.shell.recipes.make_remade import check_sources, names_of_makefiles

_PATIENCE: Final = 2000
"""So many places are looked at one by one."""


class NotSure(Exception):
    """There is something that only reading line by line can tell."""


def quick_body(files: Files, folder: str, makefile: str, name: str) -> str | None:
    """The recipe of `name`, as the careful reader has it. Raises `NotSure` and `Unreadable`."""
    text = _spliced(files, folder, makefile, 1)
    _check_rules(files, text, folder)
    if not _begins_with_a_rule(text):
        return None
    rules = {start for start, line in _lines_with(text, name) if name in targets_of(line)}
    if len(rules) != 1:
        return None
    lines = list(_up_to_the_next_rule(text, rules.pop()))
    if prerequisites_of(lines[0].text):
        # What they come to stands elsewhere.
        raise NotSure
    return body_of(lines, 0)


def _spliced(files: Files, folder: str, path: str, depth: int, *, optional: bool = False) -> str:
    """The text of a makefile with those that it includes in their place."""
    if depth > DEEPEST + 1:
        raise Unreadable(f"includes are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return ""
        raise Unreadable(f"{path} is not there")
    if _is_unsure(text):
        raise NotSure
    parts, done = [], 0
    for start, line in _lines_with(text, "include"):
        found = INCLUDE.fullmatch(line)
        if found is None or start < done:
            continue
        if line.startswith("\t"):
            raise NotSure
        parts.append(f"{text[done:start]}{line}\n")
        for name in included(found["names"]):
            beside = include_path(folder, path, name)
            parts.append(_spliced(files, folder, beside, depth + 1, optional=found["kind"] != "include") + "\n")
        parts.append(f"{line}\n")
        done = start + len(line) + 1
    return "".join((*parts, text[done:])) if parts else text


def _is_unsure(text: str) -> bool:
    """Whether something in `text` can make or change rules, or goes on in the next line.

    A character that is not there is found out hundreds of times as fast as a word.
    """
    return (
        "\r" in text
        or ("\\" in text and ("\\\n" in text or text.endswith("\\")))
        or ("$" in text and any(mark in text for mark in ("\n$", "eval", "guile", "call")))
        or ("def" in text and any(mark in text for mark in ("define", "ifdef", "ifndef")))
        or ("q" in text and any(mark in text for mark in ("ifeq", "ifneq")))
        or ("X" in text and "RECIPEPREFIX" in text)
        or ("load" in text and any(f"{mark}load" in text for mark in "\n\t -"))
        or _turns(text)
    )


def _check_rules(files: Files, text: str, folder: str) -> None:
    """Raises `NotSure` where a target is not what it looks like or is a makefile, `Unreadable` where make would make one."""
    makefiles = names_of_makefiles(files, folder)
    for mark in (*STRANGE, "%"):
        for _, line in _lines_with(text, mark):
            if not line.startswith("\t") and (_turns(line) or (is_rule(line) and mark in line.partition(":")[0])):
                raise NotSure
    for _, line in _lines_with(text, "."):
        if line.startswith(".") and is_rule(line) and (line.startswith(".DEFAULT") or not line[1:2].isupper()):
            # One for a suffix, or for all that has none.
            raise NotSure
    for mark in {"." if "." in name else name for name in makefiles}:
        if mark[0] in text and any(not makefiles.isdisjoint(targets_of(line)) for _, line in _lines_with(text, mark)):
            raise NotSure
    check_sources(files, makefiles, folder)


def _turns(line: str) -> bool:
    return BEYOND.match(line) is not None or CONDITION.match(line) is not None


def _lines_with(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """The lines in which `mark` stands, each with its place. Raises `NotSure` for too many."""
    at = text.find(mark)
    for _ in range(_PATIENCE):
        if at < 0:
            return
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        yield start, text[start : end if end >= 0 else len(text)]
        at = text.find(mark, at + 1)
    raise NotSure


def _begins_with_a_rule(text: str) -> bool:
    """Whether the first recipe line has a rule in front: make refuses the file otherwise."""
    at = 0 if text.startswith("\t") else text.find("\n\t") + 1
    while at or text.startswith("\t"):
        end = text.find("\n", at)
        if text[at : end if end >= 0 else len(text)].strip():
            return _has_a_rule(text, at)
        following = text.find("\n\t", at)
        if following < 0:
            return True
        at = following + 1
    return True


def _has_a_rule(text: str, before: int) -> bool:
    for _ in range(_PATIENCE):
        if before <= 0:
            return False
        start = text.rfind("\n", 0, before - 1) + 1
        if is_rule(text[start : before - 1]):
            return True
        before = start
    raise NotSure


def _up_to_the_next_rule(text: str, start: int) -> Iterator[Line]:
    """The rule line at `start` and what follows, with the next rule line as the last."""
    first = True
    while start <= len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        yield Line(line)
        if end < 0 or (not first and is_rule(line)):
            return
        first, start = False, end + 1
