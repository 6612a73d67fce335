"""What the tests of tools share: a workspace, a context, and running a tool of either kind."""

from collections.abc import AsyncIterator, Callable
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
