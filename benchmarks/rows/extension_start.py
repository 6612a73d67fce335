"""From a closed home to the handlers of its first session with one JavaScript extension, beside Node alone."""

import os
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._commands import ROUNDS, started
from benchmarks.rows._extension import write_extension
from benchmarks.timing import fastest
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.runtimes.node.locate import candidates

LIMIT = Limit(more=0.05)


async def measure() -> list[Line]:
    """The home is closed again each time, which costs a few milliseconds too."""
    with tempfile.TemporaryDirectory() as folder:
        write_extension(Path(folder))

        async def ours(times: int) -> None:
            for _ in range(times):
                async with Home(Path(folder), os.environ) as home:
                    await session_registry(home, spawned=False)

        best = await fastest({"ours": ours, "floor": started((next(candidates(os.environ)), "-e", "0"))}, rounds=ROUNDS)
    return [Line("the first session's wait for an extension", "node -e 0", best["ours"], best["floor"], LIMIT)]
