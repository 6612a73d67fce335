"""The table of a run: on the screen, and as results.md."""

import os
import platform
from collections.abc import Sequence
from datetime import date

from benchmarks.row import Line

HEAD = ("what", "beside", "ours", "other", "ratio", "limit", "kept")
_SCALES: dict[str, list[tuple[float, str]]] = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    "B": [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
}


def amount(value: float, unit: str) -> str:
    """`value` in the unit that suits it."""
    size, name = next((scale for scale in _SCALES[unit] if value >= scale[0]), _SCALES[unit][-1])
    return f"{value / size:.3g} {name}"


def limit(line: Line) -> str:
    """The limit of `line` in words."""
    told = []
    if line.limit.at_most is not None:
        told.append(f"at most {line.limit.at_most:g}x")
    if line.limit.at_least is not None:
        told.append(f"at least {line.limit.at_least:g}x as fast")
    if line.limit.more is not None:
        told.append(f"at most {amount(line.limit.more, line.unit)} more")
    return ", ".join(told) or "none"


def cells(line: Line) -> tuple[str, ...]:
    """One row of the table."""
    ours, other = amount(line.ours, line.unit), amount(line.other, line.unit)
    ratio = f"{line.ratio:.2f}x" if line.ratio > 0.1 else f"1/{1 / line.ratio:.0f}"
    return (line.what, line.beside, ours, other, ratio, limit(line), "yes" if line.kept else "NO")


def markdown(lines: Sequence[Line], left_out: Sequence[str]) -> str:
    """The page that a run writes."""
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
    rows = [HEAD, tuple("---" for _ in HEAD), *map(cells, lines)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    rest = "".join(f"\nNot measured: {reason}.\n" for reason in left_out)
    return f"# Results\n\nMeasured on {date.today()} with {machine}. The best of many batches, taken in turns.\n\n{table}\n{rest}"
