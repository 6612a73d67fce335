"""One function of a JavaScript extension, beside a bare round trip to the same Node process with the same bytes.

The function's row has everything in it from the event to the outcome: payload, encoding, the shared deadline, the answer's rules.
The bare round trip sends the payload as a line to a socket in that process, where it is parsed and sent back, with asyncio's streams.
"""

import asyncio
import tempfile

from benchmarks.row import Limit, Line
from benchmarks.rows._extension import open_home
from benchmarks.timing import fastest
from treblehook.contracts.vera.json_text import encoded
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.engine import Background, Dispatcher, Journal
from treblehook.home.handlers import session_registry
from treblehook.lifecycle import ToolCall, ToolProposed

LIMIT = Limit(at_most=1.5)
WARM = 3000
EVENT = ToolProposed(session="s1", workspace="/w", call=ToolCall("c1", "bash", {"command": "ls"}))


async def measure() -> list[Line]:
    """The same event over and over."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_home(folder) as (home, path):
            dispatcher = Dispatcher(await session_registry(home, spawned=False), background=Background(), journal=Journal())
            reader, writer = await asyncio.open_unix_connection(path)
            line = encoded(PAYLOADS["pre_tool_use"](EVENT)) + b"\n"

            async def fired(times: int) -> None:
                for _ in range(times):
                    await dispatcher.fire(EVENT)

            async def bare(times: int) -> None:
                for _ in range(times):
                    writer.write(line)
                    await reader.readline()

            # JavaScript is slow until it has been compiled, and the first call's time decides how many make a batch.
            await fired(WARM)
            await bare(WARM)
            best = await fastest({"fired": fired, "bare": bare})
            writer.close()
    return [Line("one extension function", "a bare round trip to the same Node process", best["fired"], best["bare"], LIMIT)]
