"""The makefile that most people write, read at the speed of a text search; what might be anything else is left to the careful reader."""

from collections.abc import Iterator
from typing import Final

from treblehook.shell.recipes.files import DEEPEST, Files, Unreadable
from treblehook.shell.recipes.make_body import body_of
from treblehook.shell.recipes.make_lines import BEYOND, CONDITION, INCLUDE, Line, include_path, included, is_rule, targets_of

_PATIENCE: Final = 2000
"""So many places are looked at one by one."""


class NotSure(Exception):
    """There is something that only reading line by line can tell."""


def quick_body(files: Files, folder: str, makefile: str, name: str) -> str | None:
    """The recipe of `name`, as the careful reader has it. Raises `NotSure` and `Unreadable`."""
    text = _spliced(files, folder, makefile, 1)
    if not _begins_with_a_rule(text):
        return None
    rules = {start for start, line in _lines_with(text, name) if name in targets_of(line)}
    return body_of(list(_up_to_the_next_rule(text, rules.pop())), 0) if len(rules) == 1 else None


def _spliced(files: Files, folder: str, path: str, depth: int, *, optional: bool = False) -> str:
    """The text of a makefile with those that it includes in their place."""
    if depth > DEEPEST + 1:
        raise Unreadable(f"includes are nested more than {DEEPEST} deep")
    text = files.text(path)
    if text is None:
        if optional:
            return ""
        raise Unreadable(f"{path} is not there")
    if _is_unsure(text) or any(_turns(line) for _, line in _lines_with(text, "\n ", 1)):
        raise NotSure
    parts, done = [], 0
    for start, line in _lines_with(text, "include"):
        found = None if line.startswith("\t") else INCLUDE.fullmatch(line)
        if found is None or start < done:
            continue
        parts.append(text[done:start])
        for name in included(found["names"]):
            beside = include_path(folder, path, name)
            parts.append(_spliced(files, folder, beside, depth + 1, optional=found["kind"] != "include") + "\n")
        done = start + len(line) + 1
    return "".join((*parts, text[done:])) if parts else text


def _is_unsure(text: str) -> bool:
    """Whether something in `text`, but for lines that begin with a blank, can make or change rules, or goes on in the next line.

    A character that is not there is found out much faster than a word.
    """
    return (
        "\r" in text
        or ("\\" in text and "\\\n" in text)
        or ("$" in text and "\n$" in text)
        or "\nif" in text
        or "define" in text
        or "RECIPEPREFIX" in text
        or ("load" in text and ("\nload" in text or "\n-load" in text))
        or _turns(text)
    )


def _turns(line: str) -> bool:
    return BEYOND.match(line) is not None or CONDITION.match(line) is not None


def _lines_with(text: str, mark: str, ahead: int = 0) -> Iterator[tuple[int, str]]:
    """The lines in which `mark` stands, or `ahead` characters behind its beginning, each with its place. Raises `NotSure` for too many."""
    at = text.find(mark)
    for _ in range(_PATIENCE):
        if at < 0:
            return
        start = text.rfind("\n", 0, at + ahead) + 1
        end = text.find("\n", at + ahead)
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
