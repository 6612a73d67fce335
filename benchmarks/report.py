"""The table of a run: on the screen, and as results.md."""

import os
import platform
from collections.abc import Sequence
from datetime import date

from benchmarks.row import Line

HEAD = ("what", "beside", "ours", "other", "ratio", "limit", "kept")
_SCALES = {"s": ((1e-6, "ns", 1e9), (1e-3, "µs", 1e6), (1.0, "ms", 1e3), (float("inf"), "s", 1.0))}
_SCALES["B"] = ((1e3, "B", 1.0), (1e6, "kB", 1e-3), (float("inf"), "MB", 1e-6))


def amount(value: float, unit: str) -> str:
    """`value` in the unit that suits it."""
    below, name, factor = next(scale for scale in _SCALES[unit] if value < scale[0])
    return f"{value * factor:.3g} {name}"


def cells(line: Line) -> tuple[str, ...]:
    """One row of the table."""
    ours, other = amount(line.ours, line.unit), amount(line.other, line.unit)
    ratio = f"{line.ratio:.2f}x" if line.ratio > 0.1 else f"1/{1 / line.ratio:.0f}"
    return (line.what, line.beside, ours, other, ratio, str(line.limit), "yes" if line.kept else "NO")


def markdown(lines: Sequence[Line], left_out: Sequence[str]) -> str:
    """The page that a run writes."""
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
    rows = [HEAD, tuple("---" for _ in HEAD), *map(cells, lines)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    rest = "".join(f"\nNot measured: {reason}.\n" for reason in left_out)
    return f"# Results\n\nMeasured on {date.today()} with {machine}. The best of many batches, taken in turns.\n\n{table}\n{rest}"
