"""WebAssembly hooks for the rows that measure them, built from the tests' sources by two toolchains."""

import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.row import Missing
from treblehook.runtimes.wasm import SEALED_WASI, Err, Grants, HostInterface, Instance, WasmRuntime, host_interface

LIFECYCLE = "murmur:hook/lifecycle@0.9.0"
ON_SHELL = f"{LIFECYCLE}#on-shell"
SCRIPT = (
    'set -eu\ncd /srv/map\nfor page in north south east west; do\n  git log --oneline -- "$page.md" | head -n 20 >> history.txt\ndone\n'
)
EVENT = {
    "turn": 12,
    "binary": "/usr/bin/bash",
    "command": SCRIPT[:200],
    "argv": ["-c", SCRIPT],
    "script": SCRIPT,
    "recipe": None,
    "outcome": None,
}
"""What a policy hook is asked before a shell call."""


def guest(name: str) -> Path:
    """`c_guard` or `python_guard`. Raises `Missing` where its toolchain is not installed."""
    needed = {"c_guard": "ziglang", "python_guard": "componentize_py"}[name]
    for module in ("wasmtime", "pytest", needed):
        if importlib.util.find_spec(module) is None:
            raise Missing(module)
    build: Callable[[], Path] = getattr(importlib.import_module("tests.support.guests"), name)
    return build()


def grants() -> Grants:
    """What a hook may import; nothing here calls any of it."""
    interfaces = importlib.import_module("tests.support.guests").hook_interfaces()

    def nothing(*arguments: Any) -> Err:
        return Err("not-granted")

    given = [
        host_interface(interface, dict.fromkeys(interface.functions, nothing))
        for name, interface in interfaces.items()
        if name != LIFECYCLE
    ]
    return Grants([*given, HostInterface(LIFECYCLE, stubbed=True)], SEALED_WASI)


def exports() -> Any:
    return importlib.import_module("tests.support.guests").hook_interfaces()[LIFECYCLE].exports()


@asynccontextmanager
async def opened(name: str, cache: Path) -> AsyncIterator[Instance]:
    """An instance of a hook that was called once."""
    async with WasmRuntime(cache) as runtime:
        instance = await runtime.open(await runtime.load(guest(name)), exports(), grants())
        await instance.call(ON_SHELL, EVENT, seconds=30)
        yield instance
