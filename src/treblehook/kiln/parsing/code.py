"""The parts of a Markdown text that are code, where nothing is a link, a tag or a heading."""

import re
from collections.abc import Iterator
from typing import Final

_FENCE: Final = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_CLOSING: Final = {mark: re.compile(rf"^[ \t>]*({mark}{{3,}})[ \t\r]*$", re.MULTILINE) for mark in "`~"}
_INDENTED: Final = re.compile(r"(?:\A|^[ \t]*\r?\n)(?: {4}| {0,3}\t)", re.MULTILINE)
_LIST_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_TICKS: Final = re.compile(r"`+")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t\r]*\n")
_NOT_LINE_END: Final = re.compile(r"[^\r\n]")


def without_code(text: str) -> str:
    """`text` with spaces in the place of code, of the same length and with the same lines."""
    plain = text
    if "```" in plain or "~~~" in plain:
        plain = _blanked(plain, _fenced(plain))
    if _INDENTED.search(plain):
        plain = _blanked(plain, _indented(plain))
    if "`" in plain:
        plain = _blanked(plain, _spans(plain))
    return plain


def _blanked(text: str, parts: Iterator[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in parts:
        pieces += [text[at:start], _NOT_LINE_END.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks; one that is not closed goes to the end of the text."""
    at = 0
    while (opening := _FENCE.search(text, at)) is not None:
        fence = opening[1]
        closing = next((found for found in _CLOSING[fence[0]].finditer(text, opening.end()) if len(found[1]) >= len(fence)), None)
        at = len(text) if closing is None else closing.end()
        yield opening.start(1), at


def _indented(text: str) -> Iterator[tuple[int, int]]:
    """Lines indented by four, behind an empty line and outside of lists."""
    at, in_list, in_code, after_blank = 0, False, False, True
    for line in text.splitlines(keepends=True):
        blank = not line.strip()
        deep = not blank and len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" ")) >= 4
        if not blank and not deep:
            in_list = _LIST_ITEM.match(line) is not None or (in_list and not (after_blank and line[0] not in " \t"))
        in_code = deep and not in_list and (in_code or after_blank)
        if in_code:
            yield at, at + len(line)
        after_blank = blank or in_code
        at += len(line)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Code spans: from a run of backticks to the next run of the same length in the same paragraph."""
    start = 0
    for end in [*(found.start() for found in _PARAGRAPH_END.finditer(text)), len(text)]:
        runs = [(run.start(), run.end()) for run in _TICKS.finditer(text, start, end)]
        yield from _paired(text, runs)
        start = end


def _paired(text: str, runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    closers: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closers.setdefault(runs[number][1] - runs[number][0], []).append(number)
    number = 0
    while number < len(runs):
        start, end = runs[number]
        start += _escaped(text, start)
        later = closers.get(end - start, [])
        while later and later[-1] <= number:
            later.pop()
        if start < end and later:
            number = later[-1]
            yield start, runs[number][1]
        number += 1


def _escaped(text: str, at: int) -> bool:
    slashes = at
    while slashes and text[slashes - 1] == "\\":
        slashes -= 1
    return (at - slashes) % 2 == 1
