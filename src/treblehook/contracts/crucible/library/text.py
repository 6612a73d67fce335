"""Texts for people, in Lua's strings: characters are code points, and bytes that are no UTF-8 come through as they are."""

from collections.abc import Sequence
from typing import Final

_SIZES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DURATIONS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def characters(octets: bytes) -> str:
    """The characters of a Lua string; `octets_of` gives back the same bytes."""
    return octets.decode("utf-8", "surrogateescape")


def octets_of(text: str) -> bytes:
    """The bytes of what `characters` gave."""
    return text.encode("utf-8", "surrogateescape")


def truncated(text: str, limit: int, ending: str) -> str:
    """`text` in at most `limit` characters, the ending counted; an ending that is longer than the limit is left out."""
    if len(text) <= limit:
        return text
    if len(ending) > limit:
        return text[:limit]
    return text[: limit - len(ending)] + ending


def size(count: float) -> str:
    """A number of bytes: `512 B`, `1.5 KiB`, `20 MiB`."""
    unit = 0
    while round(count, 1) >= 1024 and unit < len(_SIZES) - 1:
        count /= 1024
        unit += 1
    return f"{_short(count)} {_SIZES[unit]}"


def duration(seconds: float) -> str:
    """A time span in its two largest units: `350 ms`, `4.2 s`, `3 min 5 s`, `2 h`, `1 d 3 h`."""
    if round(seconds * 1000) < 1000:
        return f"{round(seconds * 1000)} ms"
    if round(seconds, 1) < 60:
        return f"{_short(seconds)} s"
    whole = round(seconds)
    parts: list[tuple[int, str]] = []
    for length, unit in (*_DURATIONS, (1, "s")):
        count, whole = divmod(whole, length)
        if count or parts:
            parts.append((count, unit))
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count)


def plural(count: float, one: str, many: str) -> str:
    """`1 note`, `3 notes`."""
    return f"{_short(count)} {one if count == 1 else many}"


def indented(text: str, by: str) -> str:
    """Every line that is not empty with `by` in front."""
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """Columns beside each other, two spaces apart; the header is underlined. Short rows are filled with empty cells."""
    heads = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    columns = max(map(len, heads), default=0)
    widths = [max((len(row[column]) for row in heads if column < len(row)), default=0) for column in range(columns)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in heads]
    if header:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _short(number: float) -> str:
    """With one decimal where that says something."""
    return f"{number:.1f}".removesuffix(".0")
