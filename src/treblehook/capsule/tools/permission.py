"""Who may call a capsule's tools: the manifest has granted them, so nobody is asked; what the home denies is denied all the same."""

from typing import Final

from treblehook.host.permission import Permission, Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall
from treblehook.shell.prepare import INTERPRETERS

_BASH: Final = "bash"


class GrantedByManifest:
    """Asks `rules` for denials only. A program that is a tool of its own is also looked at as the command of bash that it amounts to, so
    that `bash(git push*)` denies `push` to the tool `git` too."""

    def __init__(self, rules: Permission, shell_allow: tuple[str, ...]) -> None:
        self._rules = rules
        self._shell_allow = shell_allow

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """A denial, or leave."""
        for asked in self._as(call):
            verdict = self._rules.verdict(asked, spec)
            if verdict.kind == "deny":
                return verdict
        return Verdict("allow")

    def _as(self, call: ToolCall) -> list[ToolCall]:
        command = call.input.get("command")
        if call.name not in self._shell_allow or not isinstance(command, str) or call.name == _BASH:
            return [call]
        script = command if call.name in INTERPRETERS else f"{call.name} {command}"
        return [call, ToolCall(call.id, _BASH, {"command": script})]

    async def approve(self, call: ToolCall, spec: ToolSpec) -> bool:
        """Nobody is asked."""
        return False
