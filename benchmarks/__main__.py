"""`python -m benchmarks [ROW…]`: measure all rows or those named; exit status 1 where a limit is missed."""

import asyncio
import importlib
import pkgutil
import sys
from pathlib import Path

from benchmarks import report, rows
from benchmarks.row import Line, Measure, Missing

RESULTS = Path(__file__).parent / "results.md"


def main(wanted: list[str]) -> int:
    """Measure and tell; the whole table goes to results.md, a part of it only to the screen."""
    found = {module.name: module for module in pkgutil.iter_modules(rows.__path__) if not module.name.startswith("_")}
    if unknown := set(wanted) - set(found):
        print(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    lines: list[Line] = []
    left_out: list[str] = []
    for name in wanted or found:
        measure: Measure = importlib.import_module(f"benchmarks.rows.{name}").measure
        try:
            measured = asyncio.run(_all(measure))
        except Missing as missing:
            left_out.append(f"{name} ({missing})")
            print(f"{name}: not measured, {missing}")
            continue
        lines += measured
        for line in measured:
            print("  ".join(report.cells(line)), flush=True)
    if not wanted:
        RESULTS.write_text(report.markdown(lines, left_out))
    return 0 if all(line.kept for line in lines) else 1


async def _all(measure: Measure) -> list[Line]:
    return list(await measure())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
