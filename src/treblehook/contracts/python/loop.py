"""Whether an event loop is running here."""

import asyncio


def loop_is_running() -> bool:
    """Whether this is code that an event loop runs, which a blocking call would stall."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
