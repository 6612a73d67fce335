"""Who answers the prompt that rules and hooks left over."""

from typing import Protocol

from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


class Approver(Protocol):
    """The user, or whoever stands in."""

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Whether the call may run; `reason` says why it is asked about, where that is no rule of the user's.

        Cancelling it is no answer, and leaves nothing behind.
        """


class Always:
    """Approves every call."""

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """True."""
        return True


class Never:
    """Approves no call."""

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """False."""
        return False
