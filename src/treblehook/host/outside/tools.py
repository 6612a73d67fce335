"""The tools of an agent that runs elsewhere, as far as their calls are judged here."""

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from treblehook.host.tool import AnyTool, ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.lifecycle import PreparedCall, ShellOutcome
from treblehook.shell import prepare_interpreter


class OutsideTools(dict[str, AnyTool]):
    """Tools by name, as far as their calls are judged; none of them is ever run here. A name that is not known is a tool all the same."""

    def __init__(self, specs: Mapping[str, ToolSpec]) -> None:
        super().__init__({name: OutsideShell(spec) if name == "bash" else OutsideTool(spec) for name, spec in specs.items()})

    def __missing__(self, name: str) -> AnyTool:
        return OutsideTool(ToolSpec(name, "", {}))


class OutsideTool(Struct, frozen=True):
    """A tool that runs elsewhere."""

    spec: ToolSpec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """It does not run here. Raises `RunsElsewhere`."""
        raise RunsElsewhere(self.spec.name)


class OutsideShell(Struct, frozen=True):
    """A shell that runs elsewhere; its command line is resolved here as ours would be, for the gate."""

    spec: ToolSpec

    def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the command. Raises `ToolInputInvalid`."""
        command = arguments.get("command")
        if not isinstance(command, str) or not command.strip() or "\0" in command:
            raise ToolInputInvalid("`command` is missing or is no command line, so nobody can say whether it may run.")
        return prepare_interpreter(command, tool=self.spec.name, search_path=os.environ.get("PATH", os.defpath))

    async def run_prepared(self, prepared: PreparedCall, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """It does not run here. Raises `RunsElsewhere`."""
        raise RunsElsewhere(self.spec.name)


class RunsElsewhere(Exception):
    """A tool of an outside agent was to be run here."""

    def __init__(self, tool: str) -> None:
        super().__init__(f"{tool} runs in the agent that offers it")
        self.tool = tool


def shell_output(stdout: str, stderr: str = "", exit_code: int = 0, duration_ms: int = 0, content: str | None = None) -> ToolOutput:
    """The result of a command that ran elsewhere; `content` is what the model gets, where that is not both outputs."""
    text = "\n".join(filter(None, (stdout, stderr))) if content is None else content
    return ToolOutput(text, is_error=exit_code != 0, shell=ShellOutcome(exit_code, stdout, stderr, duration_ms))
