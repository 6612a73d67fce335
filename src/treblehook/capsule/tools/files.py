"""The file tools, confined to the accessible workdir."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treblehook.capsule.workdir import Workdir
from treblehook.host.tool import Tool, ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.host.tools import Edit, Glob, Grep, Read, Write
from treblehook.host.tools.files import joined
from treblehook.runtimes.process import ProcessRuntime


def file_tools(workdir: Workdir, runtime: ProcessRuntime) -> list[Tool]:
    """The five. Searching finds nothing outside either, whatever link leads there."""
    root = Path(os.path.realpath(workdir.accessible))
    kept = [Path(os.path.realpath(path)) for path in workdir.bookkeeping()]
    reading = [Confined(tool, root, ()) for tool in (Read(), Glob(within=root), Grep(runtime, within=root))]
    return [*reading, *(Confined(tool, root, kept) for tool in (Write(), Edit()))]


class Confined:
    """A tool whose `path` has to lead, all links followed, into the folder `root`, and not into what is `kept`."""

    def __init__(self, tool: Tool, root: Path, kept: Sequence[Path]) -> None:
        self._tool = tool
        self._root = root
        self._kept = kept

    @property
    def spec(self) -> ToolSpec:
        """How it is offered: nothing asks in a capsule."""
        spec = self._tool.spec
        return ToolSpec(spec.name, spec.description, spec.parameters, spec.main_argument)

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do it where that is inside. Raises `ToolInputInvalid`."""
        path = arguments.get("path")
        if isinstance(path, str):
            target = Path(await asyncio.to_thread(_target, path, context.workspace))
            if not target.is_relative_to(self._root):
                return ToolOutput(f"{path} is not in the workdir {self._root}, and nothing outside of it may be used.", is_error=True)
            if any(target.is_relative_to(kept) for kept in self._kept):
                return ToolOutput(f"{path} belongs to the runtime, which alone writes there.", is_error=True)
        return await self._tool.run(arguments, context)


def _target(path: str, workspace: Path) -> str:
    try:
        return os.path.realpath(joined(path, workspace))
    except (OSError, ValueError) as error:
        raise ToolInputInvalid(f"`path`: {error}") from error
