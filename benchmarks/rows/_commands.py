"""What the rows that start processes share."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from benchmarks.timing import Action

COMMAND = (sys.executable, "-m", "treblehook")
NOTHING = (sys.executable, "-c", "pass")
ROUNDS = 60
"""Batches of each; one start is a batch."""


def started(argv: Sequence[str], until: bytes | None = None) -> Action:
    """Starts a program so many times, each time until it has ended, or until it writes a line with `until` in it."""

    async def action(times: int) -> None:
        for _ in range(times):
            process = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
            assert process.stdout is not None
            async for line in process.stdout:
                if until is not None and until in line:
                    process.kill()
                    break
            else:
                assert until is None, f"no line with {until!r}"
            await process.wait()

    return action
