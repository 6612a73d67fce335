"""The permission of one session: the home's rules, then whoever answers the prompt that is left."""

from pathlib import Path

from treblehook.agent.permissions.approval import Approver
from treblehook.agent.permissions.argument import Argument, plain_argument
from treblehook.agent.permissions.bash.reading import read_command
from treblehook.agent.permissions.paths import path_argument
from treblehook.agent.permissions.rules import Rules
from treblehook.host.permission import Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


def main_argument(call: ToolCall, spec: ToolSpec) -> str | None:
    """The text that rules and prompts look at; None where the tool has none or the model left it out."""
    value = call.input.get(spec.main_argument)
    return value if isinstance(value, str) else None


class Permissions:
    """A `host.permission.Permission`. A main argument named `command` is read as a command line, one named `path` as a file
    seen from `workspace`; any other is plain text."""

    def __init__(self, rules: Rules, approver: Approver, workspace: Path) -> None:
        self._rules = rules
        self._approver = approver
        self._workspace = workspace

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """What the rules say."""
        text = main_argument(call, spec)
        argument = None if text is None else self._read(spec.main_argument, text)
        return self._rules.verdict(call.name, text, spec.asks, argument=argument)

    async def approve(self, call: ToolCall, spec: ToolSpec) -> bool:
        """Ask the approver."""
        return await self._approver.approve(call, spec)

    def _read(self, name: str, text: str) -> Argument:
        if name == "command":
            return read_command(text)
        if name == "path":
            return path_argument(text, self._workspace)
        return plain_argument(text)
