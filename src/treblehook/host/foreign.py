"""Waiting for what is not ours: a hook, a tool, a model, whoever answers a prompt."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from treblehook.engine import Background, Dispatcher, Outcome
from treblehook.lifecycle import Event

T = TypeVar("T")
E = TypeVar("E", bound=Event)


async def fired(event: E, dispatcher: Dispatcher) -> Outcome[E]:
    """Ask the hooks about `event`; a cancellation ends the wait at once, and what a hook answers later is dropped."""
    # Most rows have no hook, and a task costs a hundred times what finding that out does.
    return await foreign(dispatcher.fire(event), dispatcher.background) if dispatcher.reaches(event) else Outcome(event)


async def foreign(work: Coroutine[Any, Any, T], background: Background) -> T:
    """What `work` gives. Cancelling this ends the wait at once, whether or not `work` heeds it; what comes of it later is dropped."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        background.abandon(task)
        raise
    return task.result()
