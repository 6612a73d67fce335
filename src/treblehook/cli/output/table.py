"""Rows in columns, for a terminal and for a pipe alike."""

from collections.abc import Sequence

from rich.cells import cell_len

from treblehook.cli.output.safe_text import one_line


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[str] = frozenset()) -> list[str]:
    """The lines of a table, the first one `head`. Columns named in `right` hold numbers; nothing is cut or folded."""
    cells = [[one_line(cell, 1000) for cell in row] for row in (head, *rows)]
    columns = [(max(cell_len(row[at]) for row in cells), name in right) for at, name in enumerate(head)]
    return ["  ".join(_padded(cell, *column) for cell, column in zip(row, columns, strict=True)).rstrip() for row in cells]


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
