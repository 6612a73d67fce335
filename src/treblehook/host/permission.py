"""How the path of a tool call asks whether a call may run; who answers is the host's matter."""

from typing import Literal, Protocol

from msgspec import Struct

from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


class Verdict(Struct, frozen=True):
    """What the rules say of a call, and the rule that said it (None where none did). `reason` is set where it is no rule of the user's
    that asks or denies: a sentence for user and model."""

    kind: Literal["allow", "ask", "deny"]
    rule: str | None = None
    reason: str = ""


class Permission(Protocol):
    """Rules first, then the `PermissionRequest` hooks, then whoever answers the prompt that is left."""

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """What the rules say."""

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Ask the user, or whoever stands in for one; `reason` is that of the verdict."""
