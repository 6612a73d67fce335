"""One call of `make` resolved (executable, arguments, recipe) for a makefile of 256 KiB with 32 includes, beside reading the same files."""

import os
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.timing import fastest
from treblehook.shell import prepare_command

LIMIT = Limit(more=0.0008)
"""With the reading, the millisecond that it may take."""

INCLUDES = 31
BYTES = 262_144


def write(folder: Path) -> list[str]:
    """A makefile that fills what one may have, and what it includes; their paths."""
    names = [f"i{at}.mk" for at in range(INCLUDES)]
    for at, name in enumerate(names):
        (folder / name).write_text(f"X{at} = 1\nt{at}:\n\techo {at}\n")
    rules = "".join(f"r{at}: x\n\techo {at} and more of the same\n" for at in range(8000))
    (folder / "Makefile").write_text(f"include {' '.join(names)}\nbuild:\n\techo built\n{rules}"[:BYTES])
    return [str(folder / name) for name in ("Makefile", *names)]


def read_all(paths: list[str]) -> None:
    """Read files as text."""
    for path in paths:
        with open(path, "rb") as file:
            file.read().decode()


async def measure() -> list[Line]:
    """Both read what is in the page cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(folder)

        async def resolved(times: int) -> None:
            for _ in range(times):
                assert prepare_command("build", tool="make", cwd=folder, environ=os.environ).recipe == "echo built"

        async def read(times: int) -> None:
            for _ in range(times):
                read_all(paths)

        best = await fastest({"resolved": resolved, "read": read}, rounds=30)
    return [Line("a call of make resolved, 256 KiB and 32 files", "reading the same files", best["resolved"], best["read"], LIMIT)]
