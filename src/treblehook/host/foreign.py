"""Waiting for what is not ours: a hook, a tool, a model, whoever answers a prompt."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from treblehook.engine import Background

T = TypeVar("T")


async def foreign(work: Coroutine[Any, Any, T], background: Background) -> T:
    """What `work` gives. Cancelling this ends the wait at once, whether or not `work` heeds it; what comes of it later is dropped."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        background.abandon(task)
        raise
    return task.result()
