"""A Python-built component of 18 MB made ready from the compiled cache, beside reading and hashing its file.

Ready is: loaded by a new runtime, started with all that it imports, closed again.
"""

import hashlib
import tempfile
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.rows._guests import exports, grants, guest
from benchmarks.timing import fastest
from treblehook.runtimes.wasm import WasmRuntime

LIMIT = Limit(more=0.02)
"""With the 10 ms of its peer that makes the 30 ms that it may take."""


async def measure() -> list[Line]:
    """The first load compiles and is not measured."""
    component, granted, called = guest("python_guard"), grants(), exports()
    with tempfile.TemporaryDirectory() as folder:

        async def ready(times: int) -> None:
            for _ in range(times):
                async with WasmRuntime(Path(folder)) as runtime:
                    await runtime.open(await runtime.load(component), called, granted)

        async def hashed(times: int) -> None:
            for _ in range(times):
                with component.open("rb") as file:
                    hashlib.file_digest(file, "sha256")

        await ready(1)
        best = await fastest({"ready": ready, "hashed": hashed}, rounds=20)
    return [Line("a Python-built component made ready", "reading and hashing its file", best["ready"], best["hashed"], LIMIT)]
