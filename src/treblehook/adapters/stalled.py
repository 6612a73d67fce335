"""Telling that a home cannot answer: an SDK with a loop of its own for calls that are not async stalls the loop that it is called on."""

import asyncio
from typing import Final

from treblehook.adapters.opening import loop_of
from treblehook.api.home import Home
from treblehook.contracts.python import Hooks

PATIENCE_SECONDS: Final = 30.0
"""How long a loop may be busy with other things."""


class HomeStalled(RuntimeError):
    """The event loop that a home is open on does not turn, so its hooks would never answer."""

    def __init__(self) -> None:
        super().__init__("a call that is not async stalls the event loop that the home is open on; use the SDK's async calls")


async def check_not_stalled(hooks: Hooks | Home, patience: float = PATIENCE_SECONDS) -> None:
    """Wait until the loop of `hooks` turns, `patience` seconds at most. Raises `HomeStalled`, which is better than to wait for ever."""
    loop = loop_of(hooks)
    if loop is None or loop is asyncio.get_running_loop():
        return
    turned = asyncio.run_coroutine_threadsafe(_turn(), loop)
    try:
        await asyncio.wait_for(asyncio.wrap_future(turned), patience)
    except TimeoutError as error:
        raise HomeStalled from error


async def _turn() -> None:
    """Nothing more than a turn of the loop."""
