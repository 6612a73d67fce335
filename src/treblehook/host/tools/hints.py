"""What a text that was not found most likely meant."""

import difflib

LINES = 2000
CHARACTERS = 200
"""Bounds of the comparison, which takes time by the square of the length: lines compared, characters of each."""


def nearest(wanted: str, text: str) -> str:
    """A clause, with a blank before it, about the place in `text` that comes nearest to `wanted`; empty where nothing does."""
    lines = text.splitlines()
    needle = [line.strip() for line in wanted.splitlines()]
    place = _ignoring_blanks(needle, [line.strip() for line in lines])
    if place is not None:
        first, last = place + 1, place + len(needle)
        found = "\n".join(line[:CHARACTERS] for line in lines[place:last][:20])
        return f" Lines {first} to {last} differ only in blanks at the beginning or end of lines:\n{found}"
    return _most_alike(next((line for line in needle if line), ""), lines)


def _ignoring_blanks(needle: list[str], lines: list[str]) -> int | None:
    """The only place where the lines of `needle` stand in `lines`."""
    size = len(needle)
    if not any(needle):
        return None
    places = [at for at in range(len(lines) - size + 1) if lines[at] == needle[0] and lines[at : at + size] == needle]
    return places[0] if len(places) == 1 else None


def _most_alike(line: str, lines: list[str]) -> str:
    candidates = {candidate.strip()[:CHARACTERS]: number for number, candidate in enumerate(lines[:LINES], start=1)}
    found = difflib.get_close_matches(line[:CHARACTERS], candidates, n=1, cutoff=0.7)
    return f" The nearest is line {candidates[found[0]]}: {found[0]}" if found else ""
