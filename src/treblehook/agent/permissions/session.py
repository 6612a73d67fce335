"""The permission of one session: the home's rules, then whoever answers the prompt that is left."""

from functools import partial
from pathlib import Path

from treblehook.agent.permissions.approval import Approver
from treblehook.agent.permissions.argument import Argument, plain_argument
from treblehook.agent.permissions.commands import read_command
from treblehook.agent.permissions.paths import path_argument
from treblehook.agent.permissions.rules import Rules
from treblehook.host.permission import Verdict
from treblehook.host.protected import Protection
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


def main_argument(call: ToolCall, spec: ToolSpec) -> str | None:
    """The text that rules and prompts look at; None where the tool has none or the model left it out."""
    value = call.input.get(spec.main_argument)
    return value if isinstance(value, str) else None


class Permissions:
    """A `host.permission.Permission`. A main argument named `command` is read as a command line, one named `path` as a file
    seen from `workspace`; any other is plain text.

    A call that may change a place of `protection` is asked about, unless an allow rule names that place; without `protection` no place is
    protected.
    """

    def __init__(self, rules: Rules, approver: Approver, workspace: Path, protection: Protection | None = None) -> None:
        self._rules = rules
        self._approver = approver
        self._workspace = workspace
        self._protection = protection

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """What is denied, then what is protected, then what the other rules say."""
        # Taking a command apart is worth more time than all else here, so nothing is read that no rule looks at.
        text = main_argument(call, spec) if self._rules.look_into(call.name) else None
        argument = None if text is None else self._read(spec.main_argument, text)
        verdict = self._rules.verdict(call.name, text, spec.asks, argument=argument)
        if verdict.kind == "deny" or self._protection is None:
            return verdict
        touched = self._protection.touched(call, self._workspace)
        if touched is None:
            return verdict
        named = self._rules.allowing_by(partial(self._protection.named_in, argument=spec.main_argument, workspace=self._workspace))
        by_name = named.verdict(call.name, text, asks=True, argument=argument)
        return by_name if by_name.kind == "allow" else Verdict("ask", reason=touched)

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Ask the approver."""
        return await self._approver.approve(call, spec, reason)

    def _read(self, name: str, text: str) -> Argument:
        if name == "command":
            return read_command(text)
        if name == "path":
            return path_argument(text, self._workspace)
        return plain_argument(text)
