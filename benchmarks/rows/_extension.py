"""A home with JavaScript extensions, for the rows that measure it."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.row import Missing
from treblehook.home.home import Home
from treblehook.runtimes.node.locate import candidates

OBSERVES = "export function activate(vera) { vera.hooks.registerPreToolUse(() => ({ power: 'observe' })); }"


ECHOES = """
import net from 'node:net';
export function activate(vera) {
    const answer = (line) => JSON.stringify(JSON.parse(line)) + '\\n';
    const server = net.createServer((socket) => socket.setEncoding('utf8').on('data', (line) => socket.write(answer(line))));
    return new Promise((listening) => server.listen(vera.config.path, () => listening(() => server.close())));
}
"""
"""Reads a line of JSON and writes it back, at a socket of its own: what a bare program would do in the same process."""


def write_extension(home: Path, name: str = "watch", source: str = OBSERVES) -> Path:
    """An extension; by itself its function leaves every call alone. Raises `Missing` where there is no Node."""
    if next(candidates(os.environ), None) is None:
        raise Missing("node")
    folder = home / "extensions" / name
    folder.mkdir(parents=True)
    manifest = {"id": name, "version": "1", "sdk": "1", "entrypoint": "index.mjs", "capabilities": ["hooks.pre_tool_use"]}
    (folder / "vera.extension.json").write_text(json.dumps(manifest))
    (folder / "index.mjs").write_text(source)
    return folder


def _write_both(home: Path, path: str) -> None:
    write_extension(home)
    echo = write_extension(home, "echo", ECHOES)
    (home / "config.json").write_text(json.dumps({"extensions": [{"path": str(echo), "config": {"path": path}}]}))


@asynccontextmanager
async def open_home(folder: str) -> AsyncIterator[tuple[Home, str]]:
    """A home with both extensions loaded, and the path of the socket at which one echoes."""
    path = f"{folder}/echo.socket"
    _write_both(Path(folder), path)
    async with Home(Path(folder), os.environ) as home:
        await home.extensions()
        yield home, path
