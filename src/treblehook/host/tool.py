"""What a tool is, to everything that offers one to a model."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from treblehook.lifecycle import PreparedCall, ShellOutcome


class ToolSpec(Struct, frozen=True):
    """How a tool is offered: `parameters` is the JSON schema of its input object.

    `main_argument` names the argument that permission rules and cards look at; `asks` is true for a tool that needs the
    user's word where no rule speaks.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    main_argument: str = ""
    asks: bool = False


class ToolOutput(Struct, frozen=True):
    """What a tool came to: the text for the model, whole. `shell` is set by a tool that ran a command."""

    content: str
    is_error: bool = False
    shell: ShellOutcome | None = None


class ToolContext(Struct, frozen=True):
    """Where and for whom a tool runs. `environment` is what hooks added; `progress` takes text as it is produced."""

    workspace: Path
    session: str
    call: str
    environment: Mapping[str, str]
    progress: Callable[[str], None]


class ToolInputInvalid(Exception):
    """The model's input does not fit the tool; the message is what the model is told."""


class Tool(Protocol):
    """A tool that is called with its input."""

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do it. Raises `ToolInputInvalid` for a bad input; a failure of the work itself is an output with `is_error`."""


@runtime_checkable
class ShellTool(Protocol):
    """A tool that runs a command: it is resolved once, and the very `PreparedCall` that the gate approved is run."""

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""

    def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the command. Raises `ToolInputInvalid`."""

    async def run_prepared(self, prepared: PreparedCall, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run what was prepared, re-reading nothing."""


AnyTool = Tool | ShellTool
