"""Who may call a capsule's tools: the manifest has granted them, so nobody is asked; what the home denies or protects is denied."""

from typing import Final

from treblehook.host.permission import Permission, Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall
from treblehook.shell.prepare import INTERPRETERS

_BASH: Final = "bash"


class GrantedByManifest:
    """Asks `rules` for denials only. A program that is a tool of its own is also looked at as the command of bash that it amounts to, so
    that `bash(git push*)` denies `push` to the tool `git` too. What its user would have to be asked about is denied, too."""

    def __init__(self, rules: Permission, shell_allow: tuple[str, ...]) -> None:
        self._rules = rules
        self._shell_allow = shell_allow

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """A denial, or leave."""
        verdicts = [self._rules.verdict(asked, spec) for asked in self._as(call)]
        denied = next((verdict for verdict in verdicts if verdict.kind == "deny"), None)
        if denied is not None:
            return denied
        # A protected path is seen in the last one, which is a command in full.
        reason = verdicts[-1].reason
        if not reason:
            return Verdict("allow")
        return Verdict("deny", reason=f"{reason} In a capsule nobody can be asked, so the tool did not run.")

    def _as(self, call: ToolCall) -> list[ToolCall]:
        command = call.input.get("command")
        if call.name not in self._shell_allow or not isinstance(command, str) or call.name == _BASH:
            return [call]
        script = command if call.name in INTERPRETERS else f"{call.name} {command}"
        return [call, ToolCall(call.id, _BASH, {"command": script})]

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Nobody is asked."""
        return False
