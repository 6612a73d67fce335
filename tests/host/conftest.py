"""What the tests of tools share: a workspace, a context, and running a tool of either kind."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from treblehook.host.tool import AnyTool, ShellTool, ToolContext, ToolOutput
from treblehook.runtimes.process import ProcessRuntime


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def deep(workspace: Path) -> Iterator[str]:
    """The innermost of 1,500 folders, all named d; removed afterwards one by one, because pytest removes folders by recursion."""
    folder = str(workspace)
    for _ in range(1500):
        folder += "/d"
        os.mkdir(folder)
    yield folder
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
    while folder != str(workspace):
        os.rmdir(folder)
        folder = os.path.dirname(folder)


@pytest.fixture
def told() -> list[str]:
    """What tools said while they ran."""
    return []


@pytest.fixture
def context(workspace: Path, told: list[str]) -> ToolContext:
    return ToolContext(workspace, "s1", "c1", {"FROM_A_HOOK": "yes"}, told.append)


@pytest.fixture
async def runtime() -> AsyncIterator[ProcessRuntime]:
    async with ProcessRuntime(at_once=8) as runtime:
        yield runtime


@pytest.fixture
def run(context: ToolContext) -> Callable[..., Any]:
    """Run a tool with the given input, as the path of a call does."""

    async def run(tool: AnyTool, **arguments: object) -> ToolOutput:
        if isinstance(tool, ShellTool):
            return await tool.run_prepared(tool.prepare(arguments, context), arguments, context)
        return await tool.run(arguments, context)

    return run
